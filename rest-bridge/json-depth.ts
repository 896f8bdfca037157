/** Limit of nested levels in a request's JSON, so that recursive code does not exhaust the stack. */
export const MAX_JSON_DEPTH = 128;

/** True when a JSON value has more than `levels` levels of lists and objects. */
export function nestsDeeper(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => nestsDeeper(item, levels - 1));
}
