/** Where a script keeps its tests: in its own field `ext`. */
export function keptTests(ext: Readonly<Record<string, unknown>>): string {
  const { tests } = ext;
  return typeof tests === 'string' ? tests : '';
}
