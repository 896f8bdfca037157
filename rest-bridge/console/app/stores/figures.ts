/** Figures of the node over time, from `/metrics`. They are kept while the console is open, for half an hour. */
import { signal } from '@preact/signals';
import { bucketsBetween, parseMetrics, quantile, type Samples, total } from '../lib/prometheus.ts';

/** One moment. Null where nothing was counted. */
export interface Moment {
  /** Seconds since the epoch. */
  readonly at: number;
  /** Live dialogs and conferences. */
  readonly calls: number;
  readonly conferences: number;
  /** Calls that began, a second. */
  readonly rate: number;
  /** Seconds until a call to a scenario, or with a provider, was answered. */
  readonly setupMedian: number | null;
  readonly setup95: number | null;
  /** Lost packets of ended legs, per cent. */
  readonly lossIn: number | null;
  readonly lossOut: number | null;
  /** Milliseconds by which timers came late. */
  readonly delayMedian: number | null;
  readonly delay99: number | null;
  /** Processor time of scripts and of the whole node, per cent of a core. */
  readonly scripts: number;
  readonly cpu: number;
}

const EVERY_MS = 2_000;
const MOST = (30 * 60_000) / EVERY_MS;
const SETUP = ['ringmaster_scenario_call_setup_seconds', 'ringmaster_trunk_call_setup_seconds'];

export const moments = signal<readonly Moment[]>([]);
export const figuresProblem = signal<unknown>(undefined);

let before: { readonly at: number; readonly samples: Samples } | undefined;
let timer: ReturnType<typeof setInterval> | undefined;

/** Begins to read figures; later calls change nothing. */
export function startFigures(): void {
  if (timer !== undefined) return;
  timer = setInterval(() => void readFigures(), EVERY_MS);
  void readFigures();
}

async function readFigures(): Promise<void> {
  try {
    const response = await fetch('/metrics');
    if (!response.ok) throw new Error(`/metrics: ${response.status}`);
    const now = { at: Date.now() / 1000, samples: parseMetrics(await response.text()) };
    // A restarted node counts from zero.
    const isNew = before === undefined || started(now.samples) !== started(before.samples);
    if (!isNew && before !== undefined) moments.value = [...moments.value, momentOf(before, now)].slice(-MOST);
    before = now;
    figuresProblem.value = undefined;
  } catch (error) {
    figuresProblem.value = error;
  }
}

function started(samples: Samples): number {
  return total(samples, 'process_start_time_seconds');
}

type Read = NonNullable<typeof before>;

function momentOf(earlier: Read, now: Read): Moment {
  const seconds = now.at - earlier.at;
  const grown = (name: string, labels = {}): number =>
    total(now.samples, name, labels) - total(earlier.samples, name, labels);
  const buckets = (name: string) => bucketsBetween(earlier.samples, now.samples, name);
  const setup = together(SETUP.map(buckets));
  const delay = buckets('ringmaster_event_loop_delay_seconds');
  return {
    at: now.at,
    calls: total(now.samples, 'ringmaster_alive', { kind: 'dialogs' }),
    conferences: total(now.samples, 'ringmaster_alive', { kind: 'conferences' }),
    rate: grown('ringmaster_call_events_total', { type: 'call_init' }) / seconds,
    setupMedian: quantile(setup, 0.5),
    setup95: quantile(setup, 0.95),
    lossIn: lossOf(grown, 'in'),
    lossOut: lossOf(grown, 'out'),
    delayMedian: milliseconds(quantile(delay, 0.5)),
    delay99: milliseconds(quantile(delay, 0.99)),
    scripts: (100 * grown('ringmaster_script_cpu_seconds_total')) / seconds,
    cpu: (100 * grown('process_cpu_seconds_total')) / seconds,
  };
}

function lossOf(grown: (name: string, labels: Record<string, string>) => number, direction: string): number | null {
  const packets = grown('ringmaster_rtp_packets_total', { direction });
  const lost = grown('ringmaster_rtp_packets_lost_total', { direction });
  return packets + lost <= 0 ? null : (100 * lost) / (packets + lost);
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

/** Histograms with bounds of their own as one: what each counted up to every bound. */
function together(histograms: readonly (readonly [number, number][])[]): [number, number][] {
  const bounds = [...new Set(histograms.flatMap((buckets) => buckets.map(([bound]) => bound)))].toSorted(
    (a, b) => a - b,
  );
  return bounds.map((bound) => [
    bound,
    histograms.reduce((sum, buckets) => sum + (buckets.findLast(([own]) => own <= bound)?.[1] ?? 0), 0),
  ]);
}
