/** Checks scenarios against each other: arguments, endless calls, and circles through scenarios that never wait. */
import path from 'node:path';
import { END, ERROR_EXIT } from '../../component.ts';
import { type Problem, suggestName } from '../../problem.ts';
import type { Block, Parameter, Program } from '../../program.ts';
import { isOfType, plainText } from '../../values.ts';
import { spins } from './flow.ts';
import { literalHint } from '../blocks/setting-hints.ts';
import type { Place, ScenarioReference } from '../names/references.ts';

/** A scenario with its references to others. */
export interface CheckedScenario {
  readonly program: Program;
  readonly references: readonly ScenarioReference[];
  /** It has mistakes of its own, so its program is incomplete. */
  readonly broken?: boolean;
}

/**
 * Mistakes between scenarios: arguments without a parameter, scenarios that call each other without end, and circles of
 * blocks whose only wait is a scenario that never waits.
 * @param scenarios the scenarios to check
 * @param others further scenarios that they may start; of two with the same id, the one in the same folder counts
 */
export function checkTogether(scenarios: readonly CheckedScenario[], others: readonly CheckedScenario[]): Problem[] {
  const world = new World([...scenarios, ...others]);
  return scenarios.flatMap((scenario) => [
    ...scenario.references.flatMap((reference) => wrongArguments(scenario, reference, world)),
    ...(scenario.broken ? [] : [...endless(scenario, world), ...spinning(scenario, world)]),
  ]);
}

class World {
  readonly #all: readonly CheckedScenario[];
  readonly #byId = new Map<string, CheckedScenario[]>();
  /** Scenarios that can end, and those that can end without a wait. */
  readonly #ending = new Set<Program>();
  readonly #quick = new Set<Program>();

  constructor(all: readonly CheckedScenario[]) {
    this.#all = all;
    for (const scenario of all) {
      const { id } = scenario.program;
      this.#byId.set(id, [...(this.#byId.get(id) ?? []), scenario]);
    }
    this.#grow(
      this.#ending,
      (block, target) => target === undefined || this.#ending.has(target) || !isRun(block),
      true,
    );
    this.#grow(
      this.#quick,
      (block, target) => (target ? this.#quick.has(target) : block.component.waits !== true),
      false,
    );
  }

  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  /** The scenario of a reference; undefined: not among the known ones. */
  find({ program }: CheckedScenario, { scenario }: ScenarioReference): CheckedScenario | undefined {
    const named = this.#byId.get(scenario) ?? [];
    return named.find((other) => path.dirname(other.program.file) === path.dirname(program.file)) ?? named[0];
  }

  ends({ program }: CheckedScenario): boolean {
    return this.#ending.has(program);
  }

  isQuick({ program }: CheckedScenario): boolean {
    return this.#quick.has(program);
  }

  /** True when one scenario starts another, directly or through others. */
  leads(from: CheckedScenario, to: CheckedScenario): boolean {
    const seen = new Set<CheckedScenario>();
    const open = [from];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === to) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      for (const reference of next.references) {
        if (isFallback(reference)) continue;
        const target = this.find(next, reference);
        if (target) open.push(target);
      }
    }
    return false;
  }

  /** Collects scenarios with a path from start to end over passable blocks, until no more are found. */
  #grow(
    found: Set<Program>,
    passes: (block: Block, target: Program | undefined) => boolean,
    whatModulesDo: boolean,
  ): void {
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const scenario of this.#all)
        if (!found.has(scenario.program) && this.#gets(scenario, passes, whatModulesDo)) found.add(scenario.program);
    }
  }

  #gets(
    scenario: CheckedScenario,
    passes: (block: Block, target: Program | undefined) => boolean,
    whatModulesDo: boolean,
  ): boolean {
    const { blocks, start, module } = scenario.program;
    if (module || scenario.broken) return whatModulesDo;
    const seen = new Set<string>();
    const open = [start];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const block = blocks.get(name);
      if (name === END) return true;
      if (!block || seen.has(name)) continue;
      seen.add(name);
      const reference = scenario.references.find((each) => each.block === name);
      const target = reference && this.find(scenario, reference)?.program;
      if (!passes(block, target)) continue;
      for (const [exit, to] of block.exits) if (exit !== ERROR_EXIT || target === undefined) open.push(to);
    }
    return false;
  }
}

function isFallback({ argsName }: ScenarioReference): boolean {
  return argsName === undefined;
}

function isRun({ component }: Block): boolean {
  return component.name === 'run';
}

function wrongArguments(scenario: CheckedScenario, reference: ScenarioReference, world: World): Problem[] {
  const { file } = scenario.program;
  const target = world.find(scenario, reference);
  if (!target) {
    const others = isFallback(reference) ? world.ids.filter((id) => id !== scenario.program.id) : world.ids;
    const suggestion = suggestName(reference.scenario, others);
    // It may belong to a domain, or to another folder of the node.
    if (suggestion?.startsWith('did you mean') !== true) return [];
    const message = `there is no scenario "${reference.scenario}" here`;
    return [{ file, ...placeOf(reference), message, suggestion, severity: 'warning' }];
  }
  // The parameters of a scenario with mistakes are unknown.
  if (target.broken) return [];
  const { id, parameters, module } = target.program;
  if (module?.declaresParameters === false) return [];
  const missing = parameters.filter(
    ({ name, default: preset }) => !preset && !reference.args.some((arg) => arg.name === name),
  );
  return [
    ...(reference.open ? [] : missing).map(({ name, type }) => ({
      file,
      ...placeOf(reference),
      message: `"${id}" needs the parameter "${name}" (${type})`,
      suggestion: isFallback(reference)
        ? `a fallback gets no arguments: give "${name}" a default there`
        : `add ${reference.argsName}: { ${name}: ... }`,
    })),
    ...reference.args.flatMap((arg) => {
      const found = wrongArgument(arg, id, parameters);
      return found ? [{ file, ...placeOf(arg), ...found }] : [];
    }),
  ];
}

function wrongArgument(
  { name, value }: ScenarioReference['args'][number],
  id: string,
  parameters: readonly Parameter[],
): Pick<Problem, 'message' | 'suggestion'> | undefined {
  const parameter = parameters.find((candidate) => candidate.name === name);
  if (!parameter) {
    const suggestion = suggestName(
      name,
      parameters.map((each) => each.name),
    );
    return { message: `"${id}" has no parameter "${name}"`, ...(suggestion === undefined ? {} : { suggestion }) };
  }
  if (value === undefined) return undefined;
  const { type, values } = parameter;
  if (!isOfType(value, type)) {
    const suggestion = literalHint(value, type);
    const message = `the parameter "${name}" of "${id}" is of type ${type}`;
    return { message, ...(suggestion === undefined ? {} : { suggestion }) };
  }
  if (!values || values.includes(value)) return undefined;
  return {
    message: `the parameter "${name}" of "${id}" must be one of ${values.map(plainText).join(', ')}`,
    ...nearestOf(plainText(value), values.map(plainText)),
  };
}

function nearestOf(word: string, candidates: readonly string[]): { readonly suggestion?: string } {
  const suggestion = suggestName(word, candidates);
  return suggestion?.startsWith('did you mean') === true ? { suggestion } : {};
}

/** References through which every path of a scenario returns to itself. */
function endless(scenario: CheckedScenario, world: World): Problem[] {
  if (scenario.program.module || world.ends(scenario)) return [];
  return scenario.references.flatMap((reference) => {
    const target = world.find(scenario, reference);
    const block = scenario.program.blocks.get(reference.block ?? '');
    if (!target || !block || !isRun(block) || world.ends(target) || !world.leads(target, scenario)) return [];
    const { id } = scenario.program;
    const others = target === scenario ? 'itself' : `"${target.program.id}", which calls it again`;
    return [
      {
        file: scenario.program.file,
        ...placeOf(reference),
        message: `"${id}" calls ${others}, on every path, without end`,
        suggestion: 'connect an earlier exit to end, or to a block in place of a call',
      },
    ];
  });
}

/** Circles whose only wait is a scenario that never waits. */
function spinning(scenario: CheckedScenario, world: World): Problem[] {
  const { blocks, file } = scenario.program;
  const quickRuns = new Map<string, ScenarioReference>();
  for (const reference of scenario.references) {
    const target = world.find(scenario, reference);
    const block = reference.block;
    if (block === undefined || !isRun(blocks.get(block) as Block)) continue;
    if (!reference.waits || (target && world.isQuick(target))) quickRuns.set(block, reference);
  }
  if (quickRuns.size === 0) return [];
  const graph = new Map([...blocks].map(([name, { exits }]) => [name, [...exits.values()]]));
  return spins(blocks, graph, (name) => quickRuns.has(name)).flatMap(({ blocks: circle, hasWayOut }) => {
    const [first] = circle.flatMap((name) => quickRuns.get(name) ?? []);
    if (!first) return [];
    const message = `these blocks loop without a wait: ${circle.join(', ')}; "${first.scenario}" ${first.waits ? 'never waits' : 'is not waited for'}`;
    return [
      hasWayOut
        ? {
            file,
            ...placeOf(first),
            message,
            suggestion: 'count with loop, or add a wait',
            severity: 'warning' as const,
          }
        : { file, ...placeOf(first), message, suggestion: 'add a wait, or change an exit' },
    ];
  });
}

function placeOf({ line, column }: Place): Place {
  return { line, column };
}
