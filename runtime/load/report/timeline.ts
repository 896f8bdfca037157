/** What happened when. */
import type { CallRecord } from '../calls/record.ts';
import { timesOf } from './percentiles.ts';

/** Most moments of a timeline. */
const MOMENTS = 120;

/** An interval of a run. */
export interface Moment {
  /** Its start, and its length, in seconds from the start of the run. */
  readonly second: number;
  readonly length: number;
  readonly started: number;
  readonly answered: number;
  /** Calls of which the failure was known. */
  readonly failed: number;
  /** The most calls at once. */
  readonly live: number;
  /** Milliseconds from start to answer of the calls started in it. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** @param ms length of the run */
export function timelineOf(records: readonly CallRecord[], ms: number): Moment[] {
  const length = Math.max(1, Math.ceil(ms / 1000 / MOMENTS));
  const count = Math.max(1, Math.ceil(ms / 1000 / length));
  const moments = Array.from({ length: count }, () => ({
    started: 0,
    answered: 0,
    failed: 0,
    live: 0,
    times: [] as number[],
  }));
  const at = (time: number): (typeof moments)[number] | undefined =>
    moments[Math.min(count - 1, Math.max(0, Math.floor(time / 1000 / length)))];
  for (const { startMs, answered, ended, failure } of records) {
    const begin = at(startMs);
    if (begin === undefined) continue;
    begin.started += 1;
    if (answered !== undefined) {
      begin.times.push(answered);
      const moment = at(startMs + answered);
      if (moment !== undefined) moment.answered += 1;
    }
    const end = at(startMs + (ended ?? 0));
    if (failure !== undefined && end !== undefined) end.failed += 1;
  }
  // A moment begins with the calls of the one before.
  let from = 0;
  let before = 0;
  for (const [time, live] of liveOf(records)) {
    const index = Math.min(count - 1, Math.floor(time / 1000 / length));
    for (; from < index; from += 1) raise(moments[from + 1], before);
    raise(moments[index], live);
    before = live;
  }
  return moments.map(({ times, ...counts }, index) => {
    const { p50, p99 } = timesOf(times) ?? {};
    return { second: index * length, length, ...counts, p50, p99 };
  });
}

function raise(moment: { live: number } | undefined, live: number): void {
  if (moment !== undefined) moment.live = Math.max(moment.live, live);
}

/** Times at which the number of live calls changes, in order, with that number. */
function liveOf(records: readonly CallRecord[]): [number, number][] {
  const changes = records.flatMap(({ startMs, ended }): [number, number][] => [
    [startMs, 1],
    [startMs + (ended ?? 0), -1],
  ]);
  let live = 0;
  return changes
    .toSorted(([a, up], [b, down]) => a - b || up - down)
    .map(([time, change]) => {
      live += change;
      return [time, live];
    });
}
