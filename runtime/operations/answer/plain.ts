import type { Value } from '../../language/index.ts';

/** A view of something live as a scenario may keep it: without anything that belongs to the node. */
export function plain<T extends object>(view: T): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- views are made of texts, numbers and lists
  return structuredClone(view) as unknown as Value;
}
