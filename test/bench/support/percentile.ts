/** The value below which the given share (0-1) of the values lies, by nearest rank; undefined for no values. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
