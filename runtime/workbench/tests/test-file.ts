/** Reads files of scripted-caller tests. */
import { type Node, isMap, isScalar, isSeq } from 'yaml';
import {
  type Entry,
  parseDuration,
  type Problem,
  scalarText,
  ScenarioError,
  suggestName,
  type Value,
  YamlSource,
} from '../../language/index.ts';
import { type Entity, RECORDING } from '../../runs/index.ts';
import { readAgent, type SimulatedAgent } from '../simulation/simulated-agents.ts';
import { readMessage, type SimulatedMessage } from '../simulation/simulated-voicemail.ts';
import { type PhoneScript, type PhoneScripts, readPhone } from '../simulation/phones.ts';
import { HTTP_ANSWER } from '../simulation/simulated-answers.ts';
import type { Fixtures, SimulatedClasses } from '../simulation/simulated-model.ts';
import { parseTime } from './test-time.ts';
import type { Turn } from '../simulation/turns.ts';

/** Tests of a scenario: scripted callers with expectations of the runs. */
export interface TestFile {
  /** File of the scenario, relative to the test file; undefined: the file of the same name. */
  readonly scenario: string | undefined;
  readonly tests: readonly ScenarioTest[];
}

export interface ScenarioTest {
  readonly name: string;
  readonly line: number;
  /** Number of the caller, or `none`: the scenario starts without a caller. */
  readonly from: string | undefined;
  /** The dialled number, or `none`: the platform has called the other party. */
  readonly to: string | undefined;
  /** Start time, milliseconds since the epoch. */
  readonly at: number | undefined;
  readonly args: Readonly<Record<string, Value>>;
  /** Start values of variables, as INVITEBYIVR provides them. */
  readonly variables: Readonly<Record<string, Value>>;
  /** Milliseconds after which the caller hangs up in any case. */
  readonly patience: number;
  readonly turns: readonly Turn[];
  readonly phones: PhoneScripts;
  /** Answers of HTTP requests in order, by `METHOD URL`. */
  readonly http: Readonly<Record<string, Value>>;
  /** Answers of call operations in order, by name. */
  readonly operations: Readonly<Record<string, Value>>;
  /** Initial entities of the data model. */
  readonly model: Fixtures;
  /** Earlier callers in queues: milliseconds after which each leaves. */
  readonly queues: Readonly<Record<string, readonly number[]>>;
  /** Agents of queues, by number. */
  readonly agents: Readonly<Record<string, SimulatedAgent>>;
  /** Messages in mailboxes, the oldest first. */
  readonly mailboxes: Readonly<Record<string, readonly SimulatedMessage[]>>;
  readonly expect: Expectations;
}

/** All are optional; omitted ones are not checked. */
export interface Expectations {
  readonly status?: string;
  /** Names of the run's blocks, in order. */
  readonly path?: readonly string[];
  /** Last exits by block. */
  readonly exits?: Readonly<Record<string, string>>;
  /** All played and spoken sounds, in order. */
  readonly prompts?: readonly string[];
  /** Lines of the transcript in this order, with others between them. */
  readonly events?: readonly string[];
  /** `block.field`: value. */
  readonly results?: Readonly<Record<string, Value>>;
  readonly variables?: Readonly<Record<string, Value>>;
  /** Fields set by `report`. */
  readonly result?: Readonly<Record<string, Value>>;
  /** The return value. */
  readonly value?: Value;
  /** Code of the run's error. */
  readonly error?: string;
  /** All entities of named classes after the run, with the named properties. */
  readonly model?: Fixtures;
  /** Limit of the run's duration, in milliseconds. */
  readonly within?: number;
}

/** A silent caller finally hangs up, so that an endless scenario ends. */
export const PATIENCE_MS = 120_000;

const TEST_KEYS = [
  'name',
  'from',
  'to',
  'at',
  'args',
  'variables',
  'patience',
  'steps',
  'phones',
  'http',
  'operations',
  'model',
  'queues',
  'agents',
  'mailboxes',
  'expect',
];
const EXPECT_KEYS = [
  'status',
  'path',
  'exits',
  'prompts',
  'events',
  'results',
  'variables',
  'result',
  'value',
  'error',
  'model',
  'within',
];
const STEPS = ['hears', 'presses', 'says', 'silence', 'hangs_up', 'holds', 'resumes', 'beeps'];
const STATUSES = ['completed', 'ended', 'failed', 'stopped'];

/**
 * Reads the text of a test file and lists all mistakes.
 * @param classes those of the domain; without them every class exists, and has any properties
 */
export function readTestFile(
  text: string,
  file: string,
  classes?: SimulatedClasses,
): { tests: TestFile; problems: readonly Problem[] } {
  const source = new YamlSource(text, file);
  const tests = new TestReader(source, classes).read();
  return { tests, problems: source.problems };
}

class TestReader {
  readonly #source: YamlSource;
  readonly #classes: SimulatedClasses | undefined;

  constructor(source: YamlSource, classes: SimulatedClasses | undefined) {
    this.#source = source;
    this.#classes = classes;
  }

  read(): TestFile {
    const { root } = this.#source;
    if (!isMap(root)) {
      if (this.#source.problems.length === 0) this.#source.problem(root, 'a test file is a map with tests');
      return { scenario: undefined, tests: [] };
    }
    const fields = this.#fields(root, ['scenario', 'tests'], 'a test file');
    const list = fields.get('tests')?.value ?? null;
    if (!isSeq(list) || list.items.length === 0) {
      this.#source.problem(
        list ?? root,
        'a test file needs tests',
        'write tests: and a list, each with name and steps',
      );
    }
    const tests = isSeq(list) ? list.items.flatMap((item) => this.#test(item as Node)) : [];
    return { scenario: this.#text(fields.get('scenario')), tests };
  }

  #test(node: Node): ScenarioTest[] {
    if (!isMap(node)) {
      this.#source.problem(node, 'a test is a map with name, steps and expect');
      return [];
    }
    const fields = this.#fields(node, TEST_KEYS, 'a test');
    const name = this.#text(fields.get('name'));
    if (name === undefined) this.#source.problem(node, 'the test has no name', 'write name: what it shows');
    return [
      {
        name: name ?? '',
        line: this.#source.line(node),
        from: this.#text(fields.get('from')),
        to: this.#text(fields.get('to')),
        at: this.#time(fields.get('at')),
        args: this.#map(fields.get('args'), 'args'),
        variables: this.#map(fields.get('variables'), 'variables'),
        patience: this.#duration(fields.get('patience')) ?? PATIENCE_MS,
        turns: this.#steps(fields.get('steps')),
        phones: this.#phones(fields.get('phones')),
        http: this.#http(fields.get('http')),
        operations: this.#operations(fields.get('operations')),
        model: this.#fixtures(fields.get('model'), true),
        queues: this.#queues(fields.get('queues')),
        agents: this.#agents(fields.get('agents')),
        mailboxes: this.#mailboxes(fields.get('mailboxes')),
        expect: this.#expectations(fields.get('expect')),
      },
    ];
  }

  #time(entry: Entry | undefined): number | undefined {
    if (!entry) return undefined;
    const text = this.#text(entry) ?? '';
    const time = parseTime(text);
    if (time === undefined)
      this.#source.problem(entry.value ?? entry.keyNode, `"${text}" is no time`, 'write e.g. 2026-11-23T09:30+01:00');
    return time;
  }

  #steps(entry: Entry | undefined): Turn[] {
    if (!entry) return [];
    if (!isSeq(entry.value)) {
      this.#source.problem(entry.value ?? entry.keyNode, 'steps must be a list', 'e.g. [{ presses: "1" }, hangs_up]');
      return [];
    }
    return entry.value.items.flatMap((item) => this.#step(item as Node) ?? []);
  }

  /** `{hears: welcome.wav}`, `{presses: "1", after: 2s}`, `silence`, `hangs_up`. */
  #step(node: Node): Turn | undefined {
    if (isScalar(node)) return this.#turn(node, scalarText(node), undefined, undefined);
    if (!isMap(node)) {
      this.#source.problem(node, 'a step is one of the caller’s deeds', `there is: ${STEPS.join(', ')}`);
      return undefined;
    }
    const before = this.#source.problems.length;
    const fields = this.#fields(node, [...STEPS, 'after'], 'a step');
    // A second action is reported as a mistake.
    if (this.#source.problems.length > before) return undefined;
    const [deed, ...more] = [...fields].filter(([key]) => key !== 'after');
    if (!deed || more.length > 0) {
      this.#source.problem(node, 'a step is exactly one deed', `there is: ${STEPS.join(', ')}`);
      return undefined;
    }
    const [kind, entry] = deed;
    return this.#turn(entry.keyNode, kind, entry, this.#duration(fields.get('after')));
  }

  #turn(node: Node, kind: string, entry: Entry | undefined, given: number | undefined): Turn | undefined {
    const text = this.#text(entry) ?? '';
    // `hangs_up: 5s` says the same as `{hangs_up: , after: 5s}`.
    const after =
      given ?? (/^(hangs_up|holds|resumes|beeps)$/.test(kind) && text !== '' ? this.#duration(entry) : undefined);
    const when = after === undefined ? {} : { after };
    if (kind === 'hears')
      return this.#needed(node, text, {
        kind: 'hear',
        sound: asHeard(text),
      });
    if (kind === 'presses')
      return this.#digits(entry, node, text) ? { kind: 'press', digits: text, ...when } : undefined;
    if (kind === 'says') return this.#needed(node, text, { kind: 'say', text, ...when });
    if (kind === 'silence') return { kind: 'silence' };
    if (kind === 'hangs_up') return { kind: 'hang_up', ...when };
    if (kind === 'beeps') return { kind: 'beep', ...when };
    if (kind === 'holds') return { kind: 'hold', ...when };
    if (kind === 'resumes') return { kind: 'unhold', ...when };
    this.#source.problem(node, `there is no step "${kind}"`, suggestName(kind, STEPS));
    return undefined;
  }

  #needed(node: Node, text: string, turn: Turn): Turn | undefined {
    if (text !== '') return turn;
    this.#source.problem(node, 'the step says not what');
    return undefined;
  }

  #digits(entry: Entry | undefined, node: Node, text: string): boolean {
    if (/^[0-9*#A-D]+$/.test(text)) return true;
    this.#source.problem(entry?.value ?? node, `"${text}" are no keys`, 'use 0-9 * # A-D, in quotes');
    return false;
  }

  /** `{ "102": busy }`, or a list, one for each call. */
  #phones(entry: Entry | undefined): PhoneScripts {
    const phones: Record<string, PhoneScript[]> = {};
    for (const { key, keyNode, value } of this.#entries(entry, 'phones')) {
      phones[key] = (isSeq(value) ? (value.items as Node[]) : [value ?? keyNode]).flatMap((node) => {
        const text = isScalar(node) && node !== keyNode ? scalarText(node) : '';
        const script = readPhone(text);
        if (!script)
          this.#source.problem(
            node,
            `"${text}" says not what the phone does`,
            'write answers, answers after 5s, busy, no answer, or a SIP status',
          );
        return script ?? [];
      });
    }
    return phones;
  }

  /** `{ lookup: { ids: [a, b] } }`, or a list of such maps. */
  /** `{ "GET https://a.b/c": 404 }`, a map of the answer's fields, or a list of these. */
  #http(entry: Entry | undefined): Record<string, Value> {
    for (const { keyNode, value } of this.#entries(entry, 'http'))
      for (const answer of isSeq(value) ? (value.items as Node[]) : [value]) {
        if (isMap(answer)) this.#fields(answer, HTTP_ANSWER, 'an answer');
        else if (!isScalar(answer) || typeof answer.value !== 'number')
          this.#source.problem(answer ?? keyNode, 'an answer is a status or a map', 'e.g. { json: { x: 1 } }');
      }
    return this.#map(entry, 'http');
  }

  #operations(entry: Entry | undefined): Record<string, Value> {
    const operations = this.#map(entry, 'operations');
    for (const { key, keyNode, value } of this.#entries(entry, 'operations')) {
      const answers = [operations[key]].flat();
      if (!answers.every(isObject))
        this.#source.problem(value ?? keyNode, `"${key}" must be a map of what it gives`, 'e.g. { result: ok }');
    }
    return operations;
  }

  /**
   * `{ class: [{ id: 1, name: x }] }`
   * @param areWhole they are in the data model, and not only parts of expected entities
   */
  #fixtures(entry: Entry | undefined, areWhole: boolean): Fixtures {
    const fixtures: Record<string, Fixtures[string]> = {};
    for (const { key, keyNode, value } of this.#entries(entry, 'model')) {
      if (!this.#hasClass(key, keyNode)) continue;
      if (areWhole && isSeq(value)) this.#checkEntities(key, value.items as Node[]);
      const entities = value?.toJSON() as unknown;
      if (Array.isArray(entities) && entities.every((each) => isObject(each)))
        fixtures[key] = entities as Fixtures[string];
      else
        this.#source.problem(
          value ?? keyNode,
          `"${key}" must be a list of entities`,
          `write ${key}: [{ name: value }]`,
        );
    }
    return fixtures;
  }

  #hasClass(classname: string, node: Node): boolean {
    if (this.#classes === undefined || this.#classes.names.includes(classname)) return true;
    const { names, source } = this.#classes;
    const message = `model_unknown_class: there is no class "${classname}" in ${source}`;
    this.#source.problem(node, message, suggestName(classname, names));
    return false;
  }

  /** Notes entities that the class refuses, as a node would. */
  #checkEntities(classname: string, nodes: readonly Node[]): void {
    const made: Entity[] = [];
    for (const [index, node] of this.#classes === undefined ? [] : nodes.entries()) {
      const entity = node.toJSON() as unknown;
      if (!isObject(entity)) continue;
      try {
        const given = { id: `entity-${index}`, ...(entity as Entity) };
        const created = this.#classes?.create(classname, given, made, 0);
        if (created) made.push(created);
      } catch (error) {
        if (!(error instanceof ScenarioError)) throw error;
        this.#source.problem(node, `${error.code}: ${error.message}`);
      }
    }
  }

  /** `{ "102": away }` */
  #agents(entry: Entry | undefined): Record<string, SimulatedAgent> {
    const agents: Record<string, SimulatedAgent> = {};
    for (const { key, keyNode, value } of this.#entries(entry, 'agents')) {
      const agent = readAgent(isScalar(value) ? textOfNode(value) : '');
      if (!('unknown' in agent)) agents[key] = agent;
      else
        this.#source.problem(
          value ?? keyNode,
          `"${agent.unknown}" is nothing that an agent is`,
          'write ready, away, talks 30s, skills german, queues support, with commas between',
        );
    }
    return agents;
  }

  /** `{ "102": ["101", "103 heard"] }` */
  #mailboxes(entry: Entry | undefined): Record<string, SimulatedMessage[]> {
    const mailboxes: Record<string, SimulatedMessage[]> = {};
    for (const { key, keyNode, value } of this.#entries(entry, 'mailboxes')) {
      const messages = isSeq(value) ? value.items.map((item) => readMessage(textOfNode(item as Node))) : [undefined];
      const known = messages.filter((message) => message !== undefined);
      if (known.length === messages.length) mailboxes[key] = known;
      else
        this.#source.problem(
          value ?? keyNode,
          'these are no messages of a mailbox',
          'write the numbers of those who left them: ["101", "103 heard"]',
        );
    }
    return mailboxes;
  }

  /** `{ support: [20s, 45s] }` */
  #queues(entry: Entry | undefined): Record<string, number[]> {
    const queues: Record<string, number[]> = {};
    for (const { key, keyNode, value } of this.#entries(entry, 'queues')) {
      const times = isSeq(value) ? value.items.map((item) => parseDuration(textOfNode(item as Node))) : [undefined];
      const known = times.filter((time) => time !== undefined);
      if (known.length === times.length) queues[key] = known;
      else
        this.#source.problem(
          value ?? keyNode,
          `"${key}" must be a list of durations`,
          'e.g. [20s, 45s]: when those before leave',
        );
    }
    return queues;
  }

  #expectations(entry: Entry | undefined): Expectations {
    if (!entry) return {};
    if (!isMap(entry.value)) {
      this.#source.problem(entry.value ?? entry.keyNode, 'expect must be a map');
      return {};
    }
    const fields = this.#fields(entry.value, EXPECT_KEYS, 'expect');
    const expectations: Record<string, unknown> = {};
    for (const [key, field] of fields) {
      const value = this.#expectation(key, field);
      if (value !== undefined) expectations[key] = value;
    }
    return expectations;
  }

  #expectation(key: string, field: Entry): unknown {
    if (key === 'model') return this.#fixtures(field, false);
    if (key === 'within') return this.#duration(field);
    if (key === 'value') return (field.value?.toJSON() ?? null) as Value;
    if (key === 'path' || key === 'events') return this.#list(field);
    if (key === 'prompts') return this.#list(field).map(asHeard);
    if (key === 'exits')
      return Object.fromEntries(this.#entries(field, key).map(({ key: name, value }) => [name, textOfNode(value)]));
    if (key === 'status' || key === 'error') return this.#word(key, field);
    return this.#map(field, key);
  }

  #word(key: string, field: Entry): string | undefined {
    const text = this.#text(field) ?? '';
    if (key === 'status' && !STATUSES.includes(text))
      this.#source.problem(field.value ?? field.keyNode, `there is no status "${text}"`, suggestName(text, STATUSES));
    return text;
  }

  #list(field: Entry): string[] {
    if (isSeq(field.value)) return field.value.items.map((item) => textOfNode(item as Node));
    this.#source.problem(field.value ?? field.keyNode, `${field.key} must be a list`);
    return [];
  }

  #map(entry: Entry | undefined, what: string): Record<string, Value> {
    return Object.fromEntries(
      this.#entries(entry, what).map(({ key, value }) => [key, (value?.toJSON() ?? null) as Value]),
    );
  }

  #entries(entry: Entry | undefined, what: string): Entry[] {
    if (!entry || entry.value === null) return [];
    if (isMap(entry.value)) return this.#source.entries(entry.value);
    this.#source.problem(entry.value, `${what} must be a map`);
    return [];
  }

  #duration(entry: Entry | undefined): number | undefined {
    if (!entry) return undefined;
    const text = this.#text(entry) ?? '';
    const milliseconds = parseDuration(text);
    if (milliseconds === undefined)
      this.#source.problem(entry.value ?? entry.keyNode, `"${text}" is no duration`, 'write e.g. 5s');
    return milliseconds;
  }

  /** Numbers as written: `presses: 012`. */
  #text(entry: Entry | undefined): string | undefined {
    return entry?.value === undefined || entry.value === null ? undefined : textOfNode(entry.value);
  }

  #fields(node: Node, known: readonly string[], what: string): Map<string, Entry> {
    const fields = new Map<string, Entry>();
    for (const entry of isMap(node) ? this.#source.entries(node) : []) {
      if (known.includes(entry.key)) fields.set(entry.key, entry);
      else this.#source.problem(entry.keyNode, `${what} has no "${entry.key}"`, suggestName(entry.key, known));
    }
    return fields;
  }
}

/** The caller's name of a sound: a recording by its file name, a text as it is. */
function asHeard(sound: string): string {
  return sound.replace(new RegExp(`^(?:${RECORDING}|say(?:\\[[\\w-]+\\])?:)`), '');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOfNode(node: Node | null): string {
  if (!isScalar(node) || node.value === null) return '';
  return typeof node.value === 'number' ? (node.source ?? String(node.value)) : scalarText(node);
}
