/** Times of filters: milliseconds since the epoch, UTC. Outside the years 1 to 9999 the parts are null. */

export const TRUNCATION_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type TruncationUnit = (typeof TRUNCATION_UNITS)[number];

const FIRST = -62_135_596_800_000;
const END = Date.UTC(10_000, 0, 1);
const DAY = 86_400_000;
/** 1970-01-05 was a Monday. */
const MONDAY = 4 * DAY;
const FIXED: Readonly<Partial<Record<TruncationUnit, number>>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
};

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?(?:Z|([+-])(0\d|1[0-4]):([0-5]\d))?)?$/;

/** Milliseconds of an ISO 8601 time; UTC without a zone, midnight for a date alone. Null when invalid. */
export function parseTime(text: string): number | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const date = new Date(0);
  date.setUTCFullYear(part(1), part(2) - 1, part(3));
  if (part(1) === 0 || date.getUTCMonth() !== part(2) - 1 || date.getUTCDate() !== part(3)) return null;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0'));
  const offset = (match[8] === '-' ? -1 : 1) * (part(9) * 60 + part(10)) * 60_000;
  return date.getTime() + (part(4) * 60 + part(5)) * 60_000 + part(6) * 1000 + milliseconds - offset;
}

export function truncate(unit: TruncationUnit, time: number): number | null {
  if (!hasParts(time)) return null;
  const whole = Math.floor(time);
  const size = FIXED[unit];
  if (size !== undefined) return Math.floor(whole / size) * size;
  if (unit === 'week') return Math.floor((whole - MONDAY) / (7 * DAY)) * 7 * DAY + MONDAY;
  const date = new Date(whole);
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), unit === 'month' ? date.getUTCMonth() : 0, 1);
  return start.getTime();
}

export function partOf(part: 'year' | 'month' | 'day' | 'hour', time: number): number | null {
  if (!hasParts(time)) return null;
  const date = new Date(Math.floor(time));
  switch (part) {
    case 'year':
      return date.getUTCFullYear();
    case 'month':
      return date.getUTCMonth() + 1;
    case 'day':
      return date.getUTCDate();
    case 'hour':
      return date.getUTCHours();
    default:
      return part satisfies never;
  }
}

function hasParts(time: number): boolean {
  return time >= FIRST && time < END;
}
