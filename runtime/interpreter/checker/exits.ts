import { type Node, isMap, isScalar } from 'yaml';
import { type Component, END, ERROR_EXIT, type LiteralSettings } from '../component.ts';
import { suggestName } from '../problem.ts';
import { type Entry, type Source, scalarText } from './source.ts';

export interface WiredExits {
  /** Exits named by the author: exit -> target, with the nodes of both. */
  readonly wired: ReadonlyMap<string, { readonly target: string; readonly node: Node; readonly exitNode: Node }>;
}

/** Reads `next` and `exits` of a block; targets are checked when all blocks are known. */
export function readExits(source: Source, next: Entry | undefined, exits: Entry | undefined): WiredExits {
  const wired = new Map<string, { target: string; node: Node; exitNode: Node }>();
  const add = (exit: string, { keyNode, value }: Entry): void => {
    if (!isScalar(value) || value.value === null || scalarText(value) === '') {
      source.problem(value ?? keyNode, `the exit "${exit}" names no block`, 'name a block, or end');
    } else if (wired.has(exit)) {
      source.problem(keyNode, `the exit "${exit}" is named twice`, 'keep one of them');
    } else {
      wired.set(exit, { target: scalarText(value), node: value, exitNode: keyNode });
    }
  };
  if (next) add('next', next);
  if (exits && isMap(exits.value)) for (const entry of source.entries(exits.value)) add(entry.key, entry);
  else if (exits) source.problem(exits.value ?? exits.keyNode, 'exits must be a map: exit: block');
  return { wired };
}

/**
 * Completes a block's exits: every exit that can happen gets a target, its own or the one of the exit it falls back to.
 * Notes unknown exits, exits that cannot happen, and exits that lead nowhere.
 */
export function completeExits(
  source: Source,
  block: {
    readonly name: string;
    readonly node: Node;
    readonly component: Component;
    readonly settings: LiteralSettings;
  },
  { wired }: WiredExits,
): Map<string, string> {
  const { component, settings } = block;
  const possible = Object.entries(component.exits).filter(([, exit]) => exit.when?.(settings) ?? true);
  const known = [...possible.map(([name]) => name), ERROR_EXIT];
  const targets = new Map<string, string>();
  for (const [exit, { target, exitNode }] of wired) {
    if (known.includes(exit) || component.openExits?.pattern.test(exit)) targets.set(exit, target);
    else if (exit in component.exits)
      source.problem(
        exitNode,
        `"${component.name}" never takes the exit "${exit}" with these settings`,
        suggestName(exit, known),
      );
    else source.problem(exitNode, `"${component.name}" has no exit "${exit}"`, suggestName(exit, known));
  }
  for (const [exit] of possible) {
    const target = fallback(component, exit, targets);
    if (target !== undefined) targets.set(exit, target);
    else
      source.problem(
        block.node,
        `the exit "${exit}" of the block "${block.name}" leads nowhere`,
        `add ${exit === 'next' ? 'next: BLOCK' : `exits: {${exit}: BLOCK}`}, or lead it to ${END}`,
      );
  }
  return targets;
}

function fallback(component: Component, exit: string, targets: ReadonlyMap<string, string>): string | undefined {
  const own = targets.get(exit);
  if (own !== undefined) return own;
  const { otherwise } = component.exits[exit] ?? {};
  if (otherwise === END) return END;
  return otherwise === undefined || otherwise === exit ? undefined : fallback(component, otherwise, targets);
}
