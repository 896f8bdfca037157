/** When the SIP server received a message. */

const DAY_MS = 86_400_000;

/**
 * Milliseconds since the SIP server received a message, of a server with the same clock and time zone; 0 when that is not known.
 * @param time time of day as the server writes it: `hh:mm:ss.uuuuuu`
 * @param now milliseconds since 1970
 */
export function sinceReceived(time: string | undefined, now = performance.timeOrigin + performance.now()): number {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d\.\d+)$/.exec(time ?? '') ?? [];
  if (seconds === undefined) return 0;
  const then = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  const since = (((now - then) % DAY_MS) + DAY_MS) % DAY_MS;
  // A time that is still to come: the clocks differ.
  return since > DAY_MS / 2 ? 0 : since;
}
