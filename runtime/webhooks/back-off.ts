/** When a failed delivery is tried again. */

const FIRST_MS = 5_000;
const LONGEST_MS = 3_600_000;
/** Share by which a pause is longer or shorter, so that the failed deliveries of an outage spread. */
const JITTER = 0.2;

/** Milliseconds until a delivery is given up. */
export const DAY_MS = 24 * 3_600_000;

/**
 * Milliseconds until the next attempt: 5 s, doubled with each attempt, up to an hour.
 *
 * @param attempts so far
 * @param askedMs Retry-After of the server, which counts up to an hour
 * @param random from 0 to 1
 */
export function backOff(attempts: number, askedMs = 0, random = Math.random()): number {
  const pause = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_MS);
  return Math.round(Math.max(pause * (1 - JITTER + 2 * JITTER * random), Math.min(askedMs, LONGEST_MS)));
}

/** Failures in a row after which a server gets one attempt at a time, with pauses. */
const FAILURES = 3;
/** The longest pause of a server: it is found to be back within this time. */
const LONGEST_REST_MS = 300_000;

/** Milliseconds for which a server rests after failures in a row; 0: it goes on. */
export function restOf(failures: number): number {
  return failures < FAILURES ? 0 : Math.min(FIRST_MS * 2 ** Math.min(failures - FAILURES, 20), LONGEST_REST_MS);
}
