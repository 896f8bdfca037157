import { isDeepStrictEqual } from 'node:util';
import { asksInSecret, suggestName, type Value } from '../../language/index.ts';
import { failureText, MASK, type RunOutcome, shownOutcome } from '../../runs/index.ts';
import type { Simulation } from '../simulation/simulation.ts';
import type { Expectations } from './test-file.ts';
import type { Turn } from '../simulation/turns.ts';

/** The unmet expectations, one sentence each; empty: the test passes. */
export function mismatches(simulation: Simulation, wanted: Expectations): string[] {
  const { run } = simulation;
  const outcome = shownOutcome(run, simulation.outcome);
  const expected = shown(wanted, run);
  return [
    ...unknownNames(simulation, expected),
    ...unheard(simulation),
    ...failure(outcome, expected),
    ...same('status', outcome.status, expected.status),
    ...same('error', outcome.error?.code, expected.error),
    ...same('path', path(simulation), expected.path),
    ...same('prompts', prompts(simulation), expected.prompts),
    ...inOrder(transcriptLines(simulation), expected.events ?? []),
    ...each('exit of', lastExits(simulation), expected.exits),
    ...each('result', results(simulation), expected.results),
    ...each('variable', variables(simulation), expected.variables),
    ...each('reported', outcome.result, expected.result),
    ...(expected.value === undefined ? [] : same('value', outcome.value ?? null, expected.value)),
    ...entities(simulation, expected),
    ...late(outcome.milliseconds, expected.within),
  ];
}

/** Expectations in which a test may name what its caller pressed or said. */
const NAMED: ReadonlySet<string> = new Set(['prompts', 'events', 'results', 'variables', 'result', 'value']);

/** The expectations with sensitive values as they are shown. */
function shown(wanted: Expectations, { sensitive }: Simulation['run']): Expectations {
  const fields = Object.entries(wanted).map(([name, value]) => [
    name,
    NAMED.has(name) ? sensitive.value<unknown>(value) : value,
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields, texts in place of texts
  return Object.fromEntries(fields) as Expectations;
}

/** Reports an unexpected failure of the run first: it usually explains the rest. */
function failure({ error }: RunOutcome, { status, error: code }: Expectations): string[] {
  if (!error || status === 'failed' || code !== undefined) return [];
  const where = error.block === '' ? ': ' : ` in block ${error.block}: `;
  return [`the run failed${where}${failureText(error)} (${error.code})`];
}

/** Sounds that the caller waited for but did not hear. */
function unheard(simulation: Simulation): string[] {
  const { call } = simulation;
  const [next] = call.turnsLeft.filter((turn) => turn.kind !== 'silence');
  if (next === undefined) return [];
  if (next.kind !== 'hear')
    return [`the caller was never asked to ${deed(next, asksInSecret(simulation.run.program))}`];
  return [`the caller never heard ${next.sound}; it heard ${prompts(simulation).join(', ') || 'nothing'}`];
}

/** @param secret the answer may have been meant for a sensitive block */
function deed(turn: Turn, secret: boolean): string {
  if (turn.kind === 'press') return `press ${secret ? MASK : turn.digits}`;
  return turn.kind === 'say' ? `say "${secret ? MASK : turn.text}"` : turn.kind.replace('_', ' ');
}

/** The events of the transcript, without blocks. */
function transcriptLines({ run, events }: Simulation): string[] {
  const of = (step: number): string[] => (events.get(step) ?? []).map(({ what }) => what);
  return [...of(0), ...run.trace.flatMap(({ step, log = [] }) => [...log, ...of(step)])];
}

function path({ run }: Simulation): string[] {
  return run.trace.map(({ block }) => block);
}

function prompts({ events }: Simulation): string[] {
  return [...events.values()].flat().flatMap(({ sounds = [] }) => sounds);
}

function lastExits({ run }: Simulation): Record<string, Value> {
  return Object.fromEntries(run.trace.map(({ block, exit }) => [block, exit ?? '']));
}

function results({ run }: Simulation): Record<string, Value> {
  return Object.fromEntries(
    run.trace.flatMap(({ block, result }) =>
      Object.entries(result ?? {}).map(([field, value]) => [`${block}.${field}`, value] as const),
    ),
  );
}

/** Final values; a module has no variables. */
function variables({ outcome, run }: Simulation): Readonly<Record<string, Value>> {
  return run.sensitive.value(outcome.variables ?? {});
}

/** Expected blocks, results and variables that the scenario does not have. */
function unknownNames({ run: { program } }: Simulation, expected: Expectations): string[] {
  if (program.module !== undefined) return [];
  const { path: blocks = [], exits = {}, results: fields = {}, variables: values = {} } = expected;
  const known = [...program.blocks.keys()];
  const ofBlocks = [...blocks, ...Object.keys(exits), ...Object.keys(fields).map((name) => name.split('.')[0] ?? '')];
  const declared = program.variables.map(({ name }) => name);
  return [...notThere('block', ofBlocks, known), ...notThere('variable', Object.keys(values), declared)];
}

function notThere(what: string, names: readonly string[], known: readonly string[]): string[] {
  return [...new Set(names)]
    .filter((name) => !known.includes(name))
    .map((name) => {
      const instead = suggestName(name, known);
      return `the scenario has no ${what} "${name}"${instead === undefined ? '' : `; ${instead}`}`;
    });
}

/** For each named class: the expected number of entities, in any order, with the expected properties. */
function entities({ model }: Simulation, { model: expected = {} }: Expectations): string[] {
  return Object.entries(expected).flatMap(([classname, wanted]) => {
    const left = [...model.entities(classname)];
    const missing = wanted.filter((entity) => {
      const index = left.findIndex((candidate) =>
        Object.entries(entity).every(([name, value]) => isDeepStrictEqual(candidate[name], value)),
      );
      if (index >= 0) left.splice(index, 1);
      return index < 0;
    });
    return [
      ...missing.map((entity) => `no entity of ${classname} is like ${show(entity)}`),
      ...left.map((entity) => `an entity of ${classname} is not expected: ${show(entity)}`),
    ];
  });
}

function inOrder(lines: readonly string[], expected: readonly string[]): string[] {
  let from = 0;
  for (const line of expected) {
    const found = lines.indexOf(line, from);
    if (found < 0)
      return [`"${line}" did not happen${from > 0 ? ` after "${lines[from - 1]}"` : ''}: ${lines.join('; ')}`];
    from = found + 1;
  }
  return [];
}

function each(
  what: string,
  actual: Readonly<Record<string, Value>>,
  expected: Readonly<Record<string, Value>> = {},
): string[] {
  return Object.entries(expected).flatMap(([name, value]) => same(`${what} ${name}`, actual[name], value));
}

function same(what: string, actual: unknown, expected: unknown): string[] {
  if (expected === undefined || isDeepStrictEqual(actual, expected)) return [];
  if (typeof actual === 'string' && actual.includes(MASK))
    return [`${what}: expected another sensitive value than the one found`];
  return [`${what}: expected ${show(expected)}, found ${show(actual)}`];
}

function late(milliseconds: number, within: number | undefined): string[] {
  return within === undefined || milliseconds <= within ? [] : [`the run took ${milliseconds} ms, more than ${within}`];
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
