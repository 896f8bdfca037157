import type { Compiled } from '../../program.ts';

/** A list of constants is a constant. */
export function foldList(items: readonly Compiled[]): Compiled {
  const constants = items.filter((item) => item.kind === 'constant');
  return constants.length === items.length
    ? { kind: 'constant', value: constants.map(({ value }) => value) }
    : { kind: 'list', items };
}

/** An object of constants is a constant. Undefined when an entry is undefined, because that entry has a mistake. */
export function foldEntries(entries: readonly (readonly [string, Compiled | undefined])[]): Compiled | undefined {
  const compiled = new Map<string, Compiled>();
  for (const [name, entry] of entries) {
    if (entry === undefined) return undefined;
    compiled.set(name, entry);
  }
  const constants = [...compiled].flatMap(([name, entry]) =>
    entry.kind === 'constant' ? [[name, entry.value] as const] : [],
  );
  if (constants.length === compiled.size) return { kind: 'constant', value: Object.fromEntries(constants) };
  return { kind: 'object', entries: compiled };
}
