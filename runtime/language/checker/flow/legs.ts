/** Checks the names of legs in blocks. */
import { isScalar } from 'yaml';
import { usesCall } from '../../method.ts';
import { suggestName } from '../../problem.ts';
import type { ComponentDefinition } from '../../component.ts';
import { type Entry, type Source, scalarText } from '../text/source.ts';

const LEG_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,31}$/;

/** The leg of a block, and the leg that its settings name. */
export interface LegUse {
  readonly component: ComponentDefinition;
  /** The block's `leg`. */
  readonly leg: Entry | undefined;
  /** A setting that names a leg, where the component has one. */
  readonly other: Entry | undefined;
}

/** The suggestion for a leg that is connected with itself. */
export const WITH_CALLER = 'take out leg: without it that is the caller';

export function withItself(leg: string): string {
  return `"${leg}" cannot be connected with itself`;
}

/** Notes legs that no block calls, and `leg` at components that do not act on a call. */
export function checkLegs(source: Source, blocks: readonly LegUse[]): void {
  const called = new Set(
    blocks.flatMap(({ component, leg }) => (component.placesCall === true && leg ? [nameOf(leg)] : [])),
  );
  for (const { component, leg, other } of blocks) {
    if (leg && !usesCall(component)) {
      source.problem(leg.keyNode, `"${component.name}" has nothing to do with a call`, 'remove leg');
      continue;
    }
    if (leg && other && nameOf(leg) === nameOf(other))
      source.problem(other.value ?? other.keyNode, withItself(nameOf(other)), WITH_CALLER);
    for (const entry of [leg, other]) {
      if (!entry) continue;
      const name = nameOf(entry);
      const node = entry.value ?? entry.keyNode;
      if (!LEG_NAME.test(name)) source.problem(node, `"${name}" cannot be the name of a leg`, 'use letters, digits, _');
      else if (!called.has(name))
        source.problem(
          node,
          `no call has the name "${name}"`,
          (name === 'caller' ? 'take it out: without it a block is for the caller' : undefined) ??
            suggestName(name, [...called]) ??
            `write call: { to: "102" } with leg: ${name} in a block before`,
        );
    }
  }
}

function nameOf({ value }: Entry): string {
  return isScalar(value) ? scalarText(value) : '';
}
