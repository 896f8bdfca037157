import type { Value } from '../../language/index.ts';

/** A copy of a view that a scenario may keep, without references to live objects. */
export function plain<T extends object>(view: T): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- views are made of texts, numbers and lists
  return structuredClone(view) as unknown as Value;
}
