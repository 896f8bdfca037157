/**
 * A time as tests and commands write it: `2026-11-23T09:30`, with seconds, `Z` or an offset (`+01:00`) where they are wanted;
 * without either it is UTC.
 * @returns milliseconds since the epoch; undefined when it is no time
 */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?$/.exec(text);
  if (match === null) return undefined;
  const [, date, time, zone = 'Z'] = match;
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** When simulations begin that are not told, so that the same test always does the same: a Monday morning. */
export const TEST_TIME = Date.UTC(2025, 0, 6, 10);
