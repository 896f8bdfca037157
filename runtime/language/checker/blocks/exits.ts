/** Reads and completes the exits of blocks. */
import { type Node, isMap, isScalar } from 'yaml';
import type { ComponentDefinition } from '../../component.ts';
import { END, ERROR_EXIT, type LiteralSettings } from '../../component.ts';
import { nearest } from '../../../words/index.ts';
import { suggestName } from '../../problem.ts';
import { type Value, plainText } from '../../values.ts';
import type { Schema } from './schema.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';

export interface WiredExits {
  /** Exits named by the author: exit -> target, with the nodes of both. */
  readonly wired: ReadonlyMap<string, { readonly target: string; readonly node: Node; readonly exitNode: Node }>;
  /** Exits with a mistake in their target; `all`: the exits themselves cannot be read. */
  readonly broken: ReadonlySet<string> | 'all';
}

/** Reads `next` and `exits` of a block; targets are checked when all blocks are known. */
export function readExits(source: Source, next: Entry | undefined, exits: Entry | undefined): WiredExits {
  const wired = new Map<string, { target: string; node: Node; exitNode: Node }>();
  const broken = new Set<string>();
  const add = (exit: string, { keyNode, value }: Entry): void => {
    if (!isScalar(value) || value.value === null || scalarText(value) === '') {
      source.problem(value ?? keyNode, `the exit "${exit}" names no block`, 'name a block, or end');
      broken.add(exit);
    } else if (wired.has(exit)) {
      // The YAML source already reports duplicate keys.
      if (keyNode !== next?.keyNode && wired.get(exit)?.exitNode === next?.keyNode)
        source.problem(keyNode, `the exit "${exit}" is named twice`, 'keep one of them');
    } else {
      wired.set(exit, { target: scalarText(value), node: value, exitNode: keyNode });
    }
  };
  if (next) add('next', next);
  if (exits && isMap(exits.value)) for (const entry of source.entries(exits.value)) add(entry.key, entry);
  else if (exits) {
    const single = isScalar(exits.value) && exits.value.value !== null ? scalarText(exits.value) : undefined;
    const [, exit, target] = /^(\S+)\s+(\S+)$/.exec(single ?? '') ?? [];
    const meant = exit === undefined ? `write next: ${single}` : `write exits: { ${exit}: ${target} }`;
    const hint = single === undefined ? 'e.g. exits: { next: BLOCK }' : meant;
    source.problem(exits.value ?? exits.keyNode, 'exits must be a map', hint);
  }
  return { wired, broken: exits && !isMap(exits.value) ? 'all' : broken };
}

/**
 * Completes a block's exits: every exit that can happen gets a target, its own or the one of the exit it falls back to.
 * Notes unknown exits, impossible exits, and exits without a target.
 */
export function completeExits(
  source: Source,
  block: {
    readonly name: string;
    readonly node: Node;
    readonly component: ComponentDefinition;
    /** Undefined when the settings have a mistake. */
    readonly settings: LiteralSettings | undefined;
  },
  { wired, broken }: WiredExits,
): Map<string, string> {
  const { component, settings } = block;
  // Mistakes in the settings leave the possible exits unknown: none counts as missing or wrong.
  const possible = Object.entries(component.exits).filter(
    ([, exit]) => (settings ? exit.when?.(settings) : undefined) ?? true,
  );
  const certain = new Set(
    possible.filter(([, { when }]) => settings !== undefined || when === undefined).map(([name]) => name),
  );
  const known = [...possible.map(([name]) => name), ERROR_EXIT];
  const targets = new Map<string, string>();
  for (const [exit, { target, exitNode }] of wired) {
    if (known.includes(exit) || component.openExits?.pattern.test(exit)) targets.set(exit, target);
    else if (exit in component.exits)
      source.problem(
        exitNode,
        `"${component.name}" never takes the exit "${exit}" with these settings`,
        settingFor(exit, component, settings ?? {}) ?? suggestName(exit, known),
      );
    else source.problem(exitNode, `"${component.name}" has no exit "${exit}"`, insteadOfExit(exit, component, known));
  }
  for (const [exit] of possible) {
    const target = fallback(component, exit, targets);
    if (target !== undefined) targets.set(exit, target);
    else if (
      certain.has(exit) &&
      !isBroken(exit, component, broken) &&
      !certain.has(component.exits[exit]?.otherwise ?? '')
    )
      source.problem(
        block.node,
        `the exit "${exit}" of the block "${block.name}" has no target`,
        `add ${exit === 'next' ? 'next: BLOCK' : `exits: {${exit}: BLOCK}`}, or connect it to ${END}`,
      );
  }
  return targets;
}

/** The setting that makes an exit possible: `max` for `timeout`. */
function settingFor(exit: string, component: ComponentDefinition, given: LiteralSettings): string | undefined {
  for (const [name, property] of Object.entries((component.settings as Schema).properties ?? {})) {
    const { enum: names, examples = [true] } = property as Schema;
    for (const value of (names ?? examples) as readonly Value[])
      if (component.exits[exit]?.when?.({ ...given, [name]: value }) === true)
        return `it comes with a setting, e.g. ${name}: ${plainText(value)}`;
  }
  return undefined;
}

/** The suggestion for an unknown exit; open exits come first, because words describe them. */
export function insteadOfExit(
  exit: string,
  { openExits }: ComponentDefinition,
  known: readonly string[],
): string | undefined {
  if (openExits === undefined || nearest(exit, known) !== undefined) return suggestName(exit, known);
  const { description } = openExits;
  return `there is: ${known.join(', ')}, and ${description.charAt(0).toLowerCase()}${description.slice(1).replace(/[.]$/, '')}`;
}

/** True when a mistake is already reported for the exit or for its fallback. */
function isBroken(exit: string, component: ComponentDefinition, broken: WiredExits['broken']): boolean {
  if (broken === 'all' || broken.has(exit)) return true;
  const { otherwise } = component.exits[exit] ?? {};
  return (
    otherwise !== undefined &&
    otherwise !== exit &&
    otherwise in component.exits &&
    isBroken(otherwise, component, broken)
  );
}

function fallback(
  component: ComponentDefinition,
  exit: string,
  targets: ReadonlyMap<string, string>,
): string | undefined {
  const own = targets.get(exit);
  if (own !== undefined) return own;
  const { otherwise } = component.exits[exit] ?? {};
  if (otherwise === END) return END;
  return otherwise === undefined || otherwise === exit ? undefined : fallback(component, otherwise, targets);
}
