/** Checks that blocks use the scenario's call only between its answer and its end. */
import type { Node } from 'yaml';
import { ERROR_EXIT } from '../../component.ts';
import type { Block } from '../../program.ts';
import { type Graph, reachableFrom } from './graph.ts';
import type { Source } from '../text/source.ts';

/** Possible states of the scenario's own call at the start of a block, as a bit set. */
const UP = 1;
const OVER = 2;
/** The scenario has read the state of the call. */
const ASKED = 4;

export interface LifeDraft {
  readonly name: string;
  readonly node: Node;
}

export interface LifeFlow {
  readonly start: string | undefined;
  readonly last: string | undefined;
  /** Targets of the hang-up interrupt. */
  readonly afterHangUp: readonly string[];
  /** Targets of the other interrupts. */
  readonly interrupts: readonly string[];
  /** Blocks whose expressions read `call`. */
  readonly asks: ReadonlySet<string>;
}

/**
 * Notes blocks that need the call after its end or before its answer, and blocks that place a call despite a caller.
 * @returns blocks that place a call despite a caller: their shown caller is not a second mistake
 */
export function checkCallLife(
  source: Source,
  blocks: ReadonlyMap<string, Block>,
  drafts: readonly LifeDraft[],
  flow: LifeFlow,
): ReadonlySet<string> {
  const { start, last, afterHangUp, interrupts } = flow;
  const main = states(
    blocks,
    [
      ...(start === undefined ? [] : [[start, UP] as const]),
      ...interrupts.map((name) => [name, UP] as const),
      ...afterHangUp.map((name) => [name, OVER] as const),
    ],
    flow.asks,
  );
  const finale = states(blocks, last === undefined ? [] : [[last, UP | OVER]], flow.asks);
  const graph = graphOf(blocks);
  const unanswered = beforeAnswer(blocks, graph, start);
  const answered = reachableFrom(graph, answerBlocks(blocks));
  const again = placedBefore(blocks, graph);
  const callerless = withoutAnswer(blocks, graph, [start, last, ...afterHangUp, ...interrupts]);
  const besideCaller = new Set<string>();
  for (const { name, node } of drafts) {
    const block = blocks.get(name);
    if (block && placesCall(block) && !block.exits.has('error') && main.has(name) && !callerless.has(name)) {
      besideCaller.add(name);
      source.problem(
        node,
        `"${block.component.name}" without \`leg\` is for a scenario that has no caller`,
        `name the further call: leg: other, beside ${block.component.name}`,
      );
    } else if (block && placesCall(block) && !block.exits.has('error') && again.has(name))
      source.warning(
        node,
        `"${block.component.name}" comes here again, but the call without \`leg\` is made only once`,
        `give it a name: leg: other, beside ${block.component.name} and in the blocks for that call`,
      );
    if (block?.component.needsCall === undefined || block.leg !== undefined || block.exits.has('error')) continue;
    const what = `"${block.component.name}" needs the call`;
    if (main.get(name) === OVER || finale.get(name) === OVER)
      source.problem(node, `${what}, which has ended`, 'move it before that, or change the exit');
    else if (finale.get(name) === (UP | OVER))
      source.warning(
        node,
        `${what}, which has ended when \`finally\` follows a hang-up`,
        'check first: if: call.state == "connected"; or name the exit error',
      );
    if (unanswered.has(name)) {
      // A run that asks for the state of the call, or comes here again after `answer`, may be right.
      const isCertain = flow.asks.size === 0 && !answered.has(name);
      const message = `${what} to be answered, but \`answer\` comes later`;
      if (isCertain) source.problem(node, message, 'answer first');
      else source.warning(node, message, 'answer first');
    }
  }
  return besideCaller;
}

function states(
  blocks: ReadonlyMap<string, Block>,
  roots: readonly (readonly [string, number])[],
  asks: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const open = [...roots];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, state] = next;
    const block = blocks.get(name);
    const before = found.get(name) ?? 0;
    if (!block || (before | state) === before) continue;
    found.set(name, before | state);
    for (const [exit, target] of block.exits)
      open.push([target, after(block, exit, asks.has(name) ? ASKED : before | state)]);
  }
  return found;
}

function after({ component, leg }: Block, exit: string, state: number): number {
  const change = leg === undefined ? component.exits[exit]?.call : undefined;
  if (change === undefined) return state;
  return change === 'over' ? OVER : UP;
}

/** True for a block that places the scenario's own call. */
function placesCall({ component, leg }: Block): boolean {
  return leg === undefined && Object.values(component.exits).some(({ call }) => call === 'up');
}

/** Blocks that can run after the scenario's own call was placed, with any outcome. */
function placedBefore(blocks: ReadonlyMap<string, Block>, graph: Graph): ReadonlySet<string> {
  const targets = [...blocks.values()]
    .filter(placesCall)
    .flatMap(({ exits }) => [...exits].filter(([exit]) => exit !== ERROR_EXIT).map(([, target]) => target));
  return reachableFrom(graph, targets);
}

function graphOf(blocks: ReadonlyMap<string, Block>): Graph {
  return new Map([...blocks].map(([name, { exits }]) => [name, [...exits.values()]]));
}

/** Blocks that can run before any `answer`, the `answer` blocks included. */
function withoutAnswer(
  blocks: ReadonlyMap<string, Block>,
  graph: Graph,
  roots: readonly (string | undefined)[],
): ReadonlySet<string> {
  const until: Graph = new Map(
    [...graph].map(([name, targets]) => [name, blocks.get(name)?.component.needsCall === 'incoming' ? [] : targets]),
  );
  return reachableFrom(
    until,
    roots.filter((root) => root !== undefined),
  );
}

function answerBlocks(blocks: ReadonlyMap<string, Block>): readonly string[] {
  return [...blocks.values()].filter(({ component }) => component.needsCall === 'incoming').map(({ name }) => name);
}

/** Blocks that need a connected call, are reached without `answer`, and can still reach an `answer`. */
function beforeAnswer(
  blocks: ReadonlyMap<string, Block>,
  graph: Graph,
  start: string | undefined,
): ReadonlySet<string> {
  const answers = new Set(answerBlocks(blocks));
  if (answers.size === 0) return new Set();
  return new Set(
    [...withoutAnswer(blocks, graph, [start])].filter(
      (name) =>
        blocks.get(name)?.component.needsCall === 'connected' &&
        [...reachableFrom(graph, graph.get(name) ?? [])].some((later) => answers.has(later)),
    ),
  );
}
