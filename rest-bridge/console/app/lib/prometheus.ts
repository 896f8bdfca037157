/** The text format of Prometheus, as `/metrics` answers it. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by the name of their series; of a histogram `NAME_bucket`, `NAME_sum` and `NAME_count`. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Samples {
  const found = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value = ''] = line.startsWith('#') ? [] : (LINE.exec(line) ?? []);
    if (name === undefined) continue;
    const sample = {
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, key = '', text2 = '']) => [key, text2])),
      value: Number(value),
    };
    const known = found.get(name);
    if (known === undefined) found.set(name, [sample]);
    else known.push(sample);
  }
  return found;
}

/** The sum of a series over all labels that fit. */
export function total(samples: Samples, name: string, fits: Sample['labels'] = {}): number {
  return (samples.get(name) ?? [])
    .filter(({ labels }) => Object.entries(fits).every(([key, value]) => labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

/** What a histogram counted between two reads: counts up to each bound, all labels together. */
export function bucketsBetween(before: Samples, now: Samples, name: string): readonly [bound: number, count: number][] {
  const sums = (samples: Samples): Map<number, number> => {
    const byBound = new Map<number, number>();
    for (const { labels, value } of samples.get(`${name}_bucket`) ?? []) {
      const bound = Number(labels['le'] === '+Inf' ? Infinity : labels['le']);
      byBound.set(bound, (byBound.get(bound) ?? 0) + value);
    }
    return byBound;
  };
  const earlier = sums(before);
  return [...sums(now)]
    .map(([bound, count]): [number, number] => [bound, count - (earlier.get(bound) ?? 0)])
    .toSorted(([a], [b]) => a - b);
}

/**
 * The value below which a share of a histogram lies, linear within its bucket, as Prometheus computes it.
 *
 * @returns null for an empty histogram
 */
export function quantile(buckets: readonly (readonly [bound: number, count: number])[], share: number): number | null {
  const all = buckets.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  const rank = share * all;
  let lower = 0;
  let below = 0;
  for (const [bound, count] of buckets) {
    if (count >= rank) {
      // Nothing is known beyond the last bound.
      if (bound === Infinity) return lower;
      return lower + ((bound - lower) * (rank - below)) / Math.max(1e-9, count - below);
    }
    lower = bound;
    below = count;
  }
  return lower;
}
