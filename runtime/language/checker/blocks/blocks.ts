/** Reads and checks the `blocks` section of a scenario file. */
import { type Node, type YAMLMap, isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { ComponentDefinition, ComponentDefinitions } from '../../component.ts';
import { END, ERROR_EXIT, type LiteralSettings } from '../../component.ts';
import type { ExpressionCompiler } from '../../expression/expression.ts';
import { nearest } from '../../../words/index.ts';
import { suggestName } from '../../problem.ts';
import { type Block, type Compiled, literalSettings } from '../../program.ts';
import type { ValueType } from '../../values.ts';
import { BLOCK_KEYS, isKeyOfBlock, misplacedKey, withoutColon } from './block-hints.ts';
import { checkCallLife } from '../flow/call-life.ts';
import { type WiredExits, completeExits, readExits } from './exits.ts';
import { runsUnset, spins } from '../flow/flow.ts';
import { type Graph, reachableFrom, successors } from '../flow/graph.ts';
import type { InterruptDraft } from './interrupts.ts';
import { type LegUse, checkLegs } from '../flow/legs.ts';
import type { Names } from '../names/names.ts';
import { type ScenarioReference, referenceIn } from '../names/references.ts';
import { type Schema, isAny } from './schema.ts';
import { type ScenarioNames, type ScriptSite, scriptText } from '../scripts/scripts.ts';
import { SettingsChecker } from './settings.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';

/** Exit names that a value of a CEL type can produce. */
const CASES: Readonly<Record<string, { readonly pattern: RegExp; readonly suggestion: string }>> = {
  bool: { pattern: /^(true|false)$/, suggestion: 'it is true or false' },
  int: { pattern: /^-?\d+$/, suggestion: 'it is a whole number' },
};

/** Keys by which other systems name a block's component. */
const NAMES_COMPONENT = /^(?:component|type|action|do|uses?|kind|verb|step)$/i;

/** A block with a known component. Its settings are compiled once all names are known. */
export interface BlockDraft {
  readonly name: string;
  readonly node: Node;
  readonly component: ComponentDefinition;
  readonly settings: Entry;
  readonly leg: Entry | undefined;
  readonly exits: WiredExits;
}

/** A result that an expression reads. */
interface ResultUse {
  readonly reader: string;
  readonly name: string;
  readonly node: Node;
  /** The part of a field that the expression reads; this fails while the field has no value. */
  readonly part: string | undefined;
}

export interface BlockContext {
  readonly compiler: ExpressionCompiler;
  readonly variables: ReadonlyMap<string, ValueType>;
  readonly parameters: ReadonlySet<string>;
  readonly promptsFolder: string;
}

/** The blocks at which a run can enter, and the variables without a value at its start. */
export interface Flow {
  readonly start: Entry | undefined;
  readonly last: Entry | undefined;
  readonly interrupts: readonly InterruptDraft[];
  /** Variables without a first value. */
  readonly unset: ReadonlySet<string>;
}

/** Reads the `blocks` section in two passes: first the names of all blocks, then their settings. */
export class BlockReader {
  readonly #source: Source;
  readonly #components: ComponentDefinitions;
  readonly #uses: ResultUse[] = [];
  /** Component complaints; dropped when the same mistake is already reported. */
  readonly #said: { readonly name: string; readonly node: Node; readonly message: string }[] = [];
  /** All texts of blocks with mistakes, by block: each may be the target of an exit. */
  readonly #written = new Map<string, readonly string[]>();
  /** Names of all blocks, with the broken ones: an exit to a broken block is not a second mistake. */
  readonly #declared = new Set<string>();

  constructor(source: Source, components: ComponentDefinitions) {
    this.#source = source;
    this.#components = components;
  }

  draft(node: Node | null, names: Names): BlockDraft[] {
    if (!isMap(node) || node.items.length === 0) {
      const [what, instead] = isSeq(node)
        ? ['blocks must be a map of names, not a list', 'write NAME: { COMPONENT: ..., next: NAME }']
        : ['a scenario needs blocks', 'write blocks: with at least one block'];
      this.#source.problem(node, what, instead);
      return [];
    }
    return this.#source.entries(node).flatMap((entry) => {
      // The YAML source already reports duplicate keys.
      if (this.#declared.has(entry.key)) return [];
      this.#declared.add(entry.key);
      const before = this.#source.problems.length;
      const taken = names.take(entry.key, 'block', entry.keyNode);
      const draft = this.#draft(entry);
      if (this.#source.problems.length > before) this.#written.set(entry.key, textsIn(entry.value));
      return taken && draft ? [draft] : [];
    });
  }

  /** Names of the blocks with mistakes; their components and results are unknown. */
  broken(drafts: readonly BlockDraft[]): readonly string[] {
    const whole = new Set(drafts.map(({ name }) => name));
    return [...this.#declared].filter((name) => !whole.has(name));
  }

  compile(drafts: readonly BlockDraft[], context: BlockContext): Map<string, Block> {
    const blocks = new Map<string, Block>();
    // A broken block may place a call under any leg.
    if (drafts.length === this.#declared.size)
      checkLegs(this.#source, drafts.map(legUse.bind(undefined, this.#source)));
    for (const draft of drafts) {
      const settings = this.#settings(draft, context);
      const literal = settings && literalSettings(settings);
      const exits = completeExits(this.#source, { ...draft, settings: literal }, draft.exits);
      if (settings && literal) this.#checkTogether(draft, settings, literal);
      this.#checkTargets(draft);
      const { name, component, node } = draft;
      blocks.set(name, {
        name,
        component,
        settings: settings ?? { kind: 'constant', value: {} },
        exits,
        leg: draft.leg ? textOf(draft.leg) : undefined,
        line: this.#source.line(node),
        ...this.#script(draft),
      });
    }
    return blocks;
  }

  /** Notes mistakes that only the component sees, and exits for impossible values. */
  #checkTogether(
    { name, component, settings: { keyNode }, leg, exits }: BlockDraft,
    settings: Compiled,
    literal: LiteralSettings,
  ): void {
    const given = settings.kind === 'object' ? settings.entries.keys() : Object.keys(literal);
    const names = new Set(exits.wired.keys());
    for (const message of component.check?.(literal, names, new Set(given), leg !== undefined) ?? [])
      this.#said.push({ name, node: keyNode, message });
    const { openExits } = component;
    const value =
      openExits?.of === undefined || settings.kind !== 'object' ? undefined : settings.entries.get(openExits.of);
    const cases = value?.kind === 'expression' ? CASES[value.expression.type] : undefined;
    for (const [exit, { exitNode }] of cases ? exits.wired : [])
      if (!(exit in component.exits) && exit !== ERROR_EXIT && cases?.pattern.test(exit) === false)
        this.#source.problem(exitNode, `the value is never "${exit}"`, cases.suggestion);
    const values = value?.kind === 'expression' ? value.expression.values : undefined;
    for (const [exit, { exitNode }] of values === undefined ? [] : exits.wired)
      if (!(exit in component.exits) && exit !== ERROR_EXIT && values?.includes(exit) === false)
        this.#source.warning(exitNode, `the value is never "${exit}"`, suggestName(exit, values));
  }

  /** The scenarios that blocks start by a literal id. */
  references(drafts: readonly BlockDraft[]): readonly ScenarioReference[] {
    return drafts.flatMap(({ name, component, settings }) =>
      referenceIn(this.#source, component, settings.value).map((reference) => ({ ...reference, block: name })),
    );
  }

  #script({ component, settings }: BlockDraft): Pick<Block, 'script'> {
    const script = component.name === 'script' ? scriptText(this.#source, settings.value) : undefined;
    return script ? { script: script.places } : {};
  }

  /** The scripts of blocks. */
  scripts(drafts: readonly BlockDraft[], scenario: ScenarioNames): readonly ScriptSite[] {
    return drafts.flatMap(({ name, component, settings }) => {
      const text = component.name === 'script' ? scriptText(this.#source, settings.value) : undefined;
      if (!text) return [];
      return [{ ...text, block: name, isRead: this.#uses.some((use) => use.name === name), scenario }];
    });
  }

  /** Notes unreachable blocks, and results that are read before their block can have run. */
  checkFlow(blocks: ReadonlyMap<string, Block>, drafts: readonly BlockDraft[], flow: Flow): void {
    const { start, last, interrupts, unset } = flow;
    for (const entry of [start, last]) if (entry) this.#checkTarget(textOf(entry), entry.value ?? entry.keyNode, false);
    for (const { target, node } of interrupts) this.#checkTarget(target, node, true);
    // A misspelt target is already reported; following its likely meaning avoids follow-up mistakes.
    const wired = new Map(
      drafts.map(({ name, exits }) => [name, [...exits.wired.values()].map(({ target }) => this.#meant(target))]),
    );
    const graph: Graph = new Map(
      [...this.#declared].map((name) => {
        const exits = [...(blocks.get(name)?.exits.values() ?? [])].map((target) => this.#meant(target));
        return [name, [...exits, ...(wired.get(name) ?? []), ...(this.#written.get(name) ?? [])]];
      }),
    );
    // `finally` and interrupt targets may run after any block, or before the first.
    const ends = [...(last ? [textOf(last)] : []), ...interrupts.map(({ target }) => target)];
    const finale = reachableFrom(
      graph,
      ends.map((name) => this.#meant(name)),
    );
    const first = start === undefined ? undefined : this.#meant(textOf(start));
    const isKnown = first !== undefined && this.#declared.has(first) && !this.#declared.has(END);
    const reached = isKnown ? reachableFrom(graph, [first]) : undefined;
    for (const { name, node } of drafts) {
      if (reached && !reached.has(name) && !finale.has(name))
        this.#source.problem(node, `the block "${name}" is never reached`, 'connect an exit to it or remove it');
    }
    for (const { reader, name, node } of this.#uses) {
      if (!blocks.has(name) || finale.has(reader) || successors(graph, name).has(reader)) continue;
      this.#source.problem(node, `"${name}" is read before the block "${name}" has run`);
    }
    const afterwards = [
      ...(last ? [textOf(last)] : []),
      ...interrupts.filter(({ kind }) => kind === 'hangup').map(({ target }) => target),
    ];
    this.#checkAfterwards(
      drafts,
      reachableFrom(
        graph,
        afterwards.map((name) => this.#meant(name)),
      ),
      reached,
    );
    this.#checkSpins(blocks, drafts, graph);
    if (first !== undefined)
      for (const name of unset) this.#checkUnset(name, runsUnset(name, blocks, graph, first), finale);
    // A broken block may do anything to the call.
    const isWhole = blocks.size === this.#declared.size;
    const beside = isWhole ? this.#checkCallLife(blocks, drafts, flow) : new Set<string>();
    for (const { name, node, message } of this.#said) if (!beside.has(name)) this.#source.problem(node, message);
  }

  /**
   * Warns of results that may be missing after the end of the call: it can end before any block has run.
   * @param afterwards blocks that run after the end of the call
   * @param reached blocks that run during the call
   */
  #checkAfterwards(
    drafts: readonly BlockDraft[],
    afterwards: ReadonlySet<string>,
    reached: ReadonlySet<string> | undefined,
  ): void {
    const asking = new Set(
      drafts.filter(({ component }) => component.name === 'if' || component.name === 'switch').map(({ name }) => name),
    );
    const asked = new Set(
      this.#uses.filter(({ reader }) => afterwards.has(reader) && asking.has(reader)).map(({ name }) => name),
    );
    for (const { reader, name, node, part } of this.#uses) {
      if (part === undefined || !afterwards.has(reader) || reached?.has(reader) !== false) continue;
      if (!this.#declared.has(name) || afterwards.has(name) || asked.has(name)) continue;
      this.#source.warning(
        node,
        `the call may be over before the block "${name}" has run, and this fails then`,
        `check first: \${has(${part}) ? ... : ''}`,
      );
    }
  }

  #checkCallLife(
    blocks: ReadonlyMap<string, Block>,
    drafts: readonly BlockDraft[],
    { start, last, interrupts }: Flow,
  ): ReadonlySet<string> {
    return checkCallLife(this.#source, blocks, drafts, {
      start: start && textOf(start),
      last: last && textOf(last),
      afterHangUp: interrupts.filter(({ kind }) => kind === 'hangup').map(({ target }) => target),
      interrupts: interrupts.filter(({ kind }) => kind !== 'hangup').map(({ target }) => target),
      asks: new Set(this.#uses.filter(({ name }) => name === 'call').map(({ reader }) => reader)),
    });
  }

  #checkSpins(blocks: ReadonlyMap<string, Block>, drafts: readonly BlockDraft[], graph: Graph): void {
    for (const { blocks: circle, hasWayOut } of spins(blocks, graph)) {
      const node = drafts.find(({ name }) => name === circle[0])?.node ?? null;
      const message =
        circle.length === 1
          ? `the block "${circle[0]}" loops without a wait`
          : `these blocks loop without a wait: ${circle.join(', ')}`;
      if (hasWayOut) this.#source.warning(node, message, 'count with loop, or add a wait');
      else this.#source.problem(node, `${message} for ever`, 'add a wait, or change an exit');
    }
  }

  #checkUnset(variable: string, unset: ReadonlySet<string>, finale: ReadonlySet<string>): void {
    for (const { reader, name, node } of this.#uses) {
      if (name !== variable || !unset.has(reader) || finale.has(reader)) continue;
      this.#source.warning(node, `the variable "${name}" may be read here before it is set`, 'give it a first value');
    }
  }

  #draft({ key, keyNode, value }: Entry): BlockDraft | undefined {
    if (isAlias(value)) return undefined;
    if (!isMap(value)) {
      const named = isScalar(value) && this.#components.has(scalarText(value)) ? `${scalarText(value)}: ` : undefined;
      const instead = isKeyOfBlock(key, value)
        ? 'it belongs to the block above: indent it as the component there'
        : named === undefined
          ? 'write e.g. play: welcome.wav'
          : `write { ${named}, next: BLOCK }`;
      this.#source.problem(value ?? keyNode, `the block "${key}" names no component`, instead);
      return undefined;
    }
    const entries = this.#source.entries(value).map((entry) => this.#withColon(entry));
    const [settings, ...more] = entries.filter((candidate) => this.#components.has(candidate.key));
    const component = this.#components.get(settings?.key ?? '');
    const named = entries.find((entry) => NAMES_COMPONENT.test(entry.key) && this.#components.has(textOf(entry)));
    for (const entry of entries.filter(
      (other) => !this.#components.has(other.key) && !BLOCK_KEYS.includes(other.key),
    )) {
      if (component)
        this.#source.problem(entry.keyNode, `a block has no "${entry.key}"`, misplacedKey(entry, value, component));
      else this.#unknown(entry, named);
    }
    for (const entry of more)
      this.#source.problem(
        entry.keyNode,
        `the block "${key}" has the component "${settings?.key}" already`,
        'make it a block of its own',
      );
    if (!settings) {
      if (entries.every((entry) => BLOCK_KEYS.includes(entry.key)))
        this.#source.problem(keyNode, `the block "${key}" names no component`, 'write e.g. play: welcome.wav');
      return undefined;
    }
    const byKey = (wanted: string): Entry | undefined => entries.find((entry) => entry.key === wanted);
    return (
      component && {
        name: key,
        node: keyNode,
        component,
        settings,
        leg: byKey('leg'),
        exits: readExits(this.#source, byKey('next'), byKey('exits')),
      }
    );
  }

  /** Notes a missing colon, and reads the entry as it was meant. */
  #withColon(entry: Entry): Entry {
    const meant = withoutColon(entry);
    if (meant === undefined) return entry;
    const written = `write ${meant.key}: ${textOf(meant)}`;
    this.#source.problem(entry.keyNode, `"${entry.key}" has no colon`, written);
    return meant;
  }

  /** @param named the key with the name of a component as its value: `component: play` */
  #unknown(entry: Entry, named: Entry | undefined): void {
    const { key, keyNode } = entry;
    if (key === '<<') return this.#source.problem(keyNode, 'merge keys (<<) are not allowed', 'write the values out');
    const called = [...this.#components.values()].find(({ otherNames = [] }) =>
      otherNames.includes(key.toLowerCase().replaceAll(/[-. ]/g, '_')),
    );
    if (named) {
      const name = textOf(named);
      const instead = entry === named ? `write ${name}: in place of it` : `put what is in it behind ${name}:`;
      return this.#source.problem(keyNode, `there is no component "${key}"`, instead);
    }
    const suggestion = called
      ? `here it is "${called.name}"`
      : (suggestName(key, [...this.#components.keys(), ...BLOCK_KEYS]) ??
        'docs/scenarios/components.md lists them all');
    this.#source.problem(keyNode, `there is no component "${key}"`, suggestion);
  }

  #settings({ name, component, settings }: BlockDraft, context: BlockContext): Compiled | undefined {
    const checker = new SettingsChecker({
      ...context,
      source: this.#source,
      used: ({ names, lookedInto }, node) => {
        for (const used of names) this.#uses.push({ reader: name, name: used, node, part: lookedInto.get(used) });
      },
    });
    const { shorthand } = component;
    const { value, keyNode } = settings;
    const single =
      value !== null && !(isScalar(value) && value.value === null) && (!isMap(value) || isWholeValue(value, component));
    if (!single || shorthand === undefined)
      return checker.compile(value, component.settings, `"${component.name}"`, keyNode);
    return checker.compileShorthand(value, component.settings, shorthand, `"${component.name}"`, keyNode);
  }

  /** The declared block nearest to a possibly misspelt name. */
  #meant(target: string): string {
    return target === END || this.#declared.has(target) ? target : (nearest(target, this.#declared) ?? target);
  }

  #checkTargets({ exits }: BlockDraft): void {
    for (const { target, node } of exits.wired.values()) this.#checkTarget(target, node, true);
  }

  #checkTarget(target: string, node: Node, mayEnd: boolean): void {
    if (this.#declared.has(target) || (mayEnd && target === END)) return;
    this.#source.problem(
      node,
      `there is no block "${target}"`,
      suggestName(target, mayEnd ? [...this.#declared, END] : [...this.#declared]),
    );
  }
}

/** `return: {a: 1}`: true for a map without names of settings, where the main setting takes any value. */
function isWholeValue(map: YAMLMap, { settings, shorthand }: ComponentDefinition): boolean {
  const { properties = {} } = settings as Schema;
  if (shorthand === undefined || !isAny(properties[shorthand] ?? {})) return false;
  return !map.items.some(({ key }) => isScalar(key) && String(key.value) in properties);
}

/** The block's own leg and the leg named by its settings: `bridge: agent`. */
function legUse(source: Source, { component, leg, settings: { keyNode, value } }: BlockDraft): LegUse {
  if (component.legSetting === undefined) return { component, leg, other: undefined };
  const single = component.shorthand === component.legSetting ? [{ key: component.legSetting, keyNode, value }] : [];
  const entries = isMap(value) ? source.entries(value) : single;
  return { component, leg, other: entries.find((entry) => entry.key === component.legSetting) };
}

/** All texts in a node: each may be the name of a block. */
function textsIn(node: Node | null): readonly string[] {
  if (isScalar(node)) return [scalarText(node)];
  if (isMap(node)) return node.items.flatMap(({ value }) => textsIn(value as Node | null));
  return isSeq(node) ? (node.items as Node[]).flatMap(textsIn) : [];
}

export function textOf({ value }: Entry): string {
  return isScalar(value) ? scalarText(value) : '';
}
