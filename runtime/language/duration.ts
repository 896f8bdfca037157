/** Durations as authors write them: a number and a unit, `500ms`, `5s`, `1.5s`, `2m`, `1h`. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The same as a JSON Schema pattern. */
export const DURATION_PATTERN = '^\\d+(\\.\\d+)?(ms|s|m|h)$';
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** The longest duration in a scenario: one week, below the maximum of setTimeout (2^31 ms). */
const MAX_DURATION_MS = 7 * 24 * 3_600_000;

/** Milliseconds of a duration; undefined for an invalid text or more than a week. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const milliseconds = Math.round(Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN));
  return milliseconds <= MAX_DURATION_MS ? milliseconds : undefined;
}
