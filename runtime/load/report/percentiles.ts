/** Percentiles of times. */

/** Milliseconds, by nearest rank. */
export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  /** The value at each per cent from 1 to 100, for a plot. */
  readonly curve: readonly number[];
}

/** @returns undefined without values */
export function timesOf(values: readonly number[]): Times | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => tenth(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number);
  return {
    count: sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
    curve: Array.from({ length: 100 }, (_, index) => at((index + 1) / 100)),
  };
}

/** Rounded to a tenth. */
export function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
