/**
 * Parses a time of tests and commands: `2026-11-23T09:30`, optionally with seconds, and `Z` or an offset (`+01:00`). The
 * default is UTC.
 * @returns milliseconds since the epoch; undefined for an invalid time
 */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?$/.exec(text);
  if (match === null) return undefined;
  const [, date, time, zone = 'Z'] = match;
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Default start time of simulations, fixed for repeatable tests: a Monday morning. */
export const TEST_TIME = Date.UTC(2025, 0, 6, 10);
