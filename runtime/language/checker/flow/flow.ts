/** Finds circles without a wait, and variables that are read before they have a value. */
import { settingKind } from '../../setting.ts';
import { type Block, literalSettings } from '../../program.ts';
import { type Graph, reachableFrom, successors } from './graph.ts';

/** A circle of blocks that takes no time. */
export interface Spin {
  readonly blocks: readonly string[];
  /** True when a run can leave the circle. */
  readonly hasWayOut: boolean;
}

/**
 * Circles without a wait: those of the graph without waiting blocks and without exits of limited count.
 * @param isQuick blocks that do not wait although their component does
 */
export function spins(
  blocks: ReadonlyMap<string, Block>,
  graph: Graph,
  isQuick: (name: string) => boolean = () => false,
): Spin[] {
  const quick = new Set(
    [...blocks].filter(([name, { component }]) => isQuick(name) || component.waits !== true).map(([name]) => name),
  );
  const between: Graph = new Map(
    [...graph]
      .filter(([name]) => quick.has(name))
      .map(([name, targets]) => [name, targets.filter((to) => quick.has(to) && to !== countedTo(blocks.get(name)))]),
  );
  const after = new Map([...between.keys()].map((name) => [name, successors(between, name)]));
  const found: Spin[] = [];
  const seen = new Set<string>();
  for (const name of between.keys()) {
    if (seen.has(name) || after.get(name)?.has(name) !== true) continue;
    const circle = [...between.keys()].filter((other) => after.get(name)?.has(other) && after.get(other)?.has(name));
    for (const member of circle) seen.add(member);
    const hasWayOut = circle.some((member) => (graph.get(member) ?? []).some((target) => !circle.includes(target)));
    found.push({ blocks: circle, hasWayOut });
  }
  return found;
}

/** Targets that a block reaches only through an exit of limited count. */
function countedTo(block: Block | undefined): string | undefined {
  const { bounded } = block?.component ?? {};
  if (!block || bounded === undefined) return undefined;
  const target = block.exits.get(bounded);
  return [...block.exits].some(([exit, to]) => exit !== bounded && to === target) ? undefined : target;
}

/** Blocks that can run before the variable has a value. */
export function runsUnset(
  variable: string,
  blocks: ReadonlyMap<string, Block>,
  graph: Graph,
  start: string,
): ReadonlySet<string> {
  const until: Graph = new Map(
    [...graph].map(([name, targets]) => [name, sets(blocks.get(name), variable) ? [] : targets]),
  );
  return reachableFrom(until, [start]);
}

function sets(block: Block | undefined, variable: string): boolean {
  if (!block) return false;
  if (block.component.assigns?.(literalSettings(block.settings), variable) === true) return true;
  if (settingKind(block.component.settings) !== 'assignments') return false;
  const { settings } = block;
  return settings.kind === 'object' ? settings.entries.has(variable) : variable in literalSettings(settings);
}
