/** A value as it is spoken: a text for the speech engine, and the prompts that say the same. */
import {
  CURRENCY,
  formatNumber,
  formatTime,
  moneyFormat,
  ScenarioError,
  timeFormat,
  timeOf,
  usable,
  type Value,
} from '../../runtime/language/index.ts';

export const KINDS = ['number', 'digits', 'money', 'date', 'time', 'datetime', 'duration'] as const;
export type Kind = (typeof KINDS)[number];

export interface Spoken {
  readonly text: string;
  /** Empty: no prompts can say it. */
  readonly prompts: readonly string[];
}

export interface Speaking {
  readonly language: string;
  /** Of money: ISO 4217. */
  readonly currency: string;
  readonly timezone: string;
}

const KEYS: Readonly<Record<string, string>> = { '*': 'star', '#': 'hash', '+': 'plus' };
const MAX_DIGITS = 64;
/** Longest duration, seconds. */
const MAX_DURATION = 8_640_000;

/** @throws ScenarioError code `setting` for a value that is none of this kind */
export function spoken(value: Value, kind: Kind, { language, currency, timezone }: Speaking): Spoken {
  switch (kind) {
    case 'number': {
      const number = numberOf(value);
      return { text: formatNumber(number, 'plain', language), prompts: wholeNumber(number) };
    }
    case 'digits':
      return digits(typeof value === 'number' ? String(value) : value);
    case 'money':
      return money(numberOf(value), currency, language);
    case 'date':
    case 'time':
    case 'datetime':
      return moment(value, kind, language, timezone);
    case 'duration':
      return { text: duration(numberOf(value), language), prompts: [] };
    default:
      return kind satisfies never;
  }
}

function digits(value: Value): Spoken {
  if (typeof value !== 'string' || !/^[0-9*#+ .()/-]*$/.test(value) || value.length > MAX_DIGITS)
    throw wrong(value, `a text of at most ${MAX_DIGITS} digits, * # and +`);
  const keys = value.match(/[0-9*#+]/g) ?? [];
  return { text: keys.join(', '), prompts: keys.map((key) => `digits/${KEYS[key] ?? key}`) };
}

function money(value: number, currency: string, language: string): Spoken {
  if (!CURRENCY.test(currency))
    throw new ScenarioError('setting', `money needs a currency such as EUR, not "${currency}"`);
  const format = moneyFormat(currency, language, 'name', Number.isInteger(value));
  // The order of amount and currency is that of the language.
  const prompts = format.formatToParts(value).flatMap(({ type, value: part }) => {
    if (type === 'integer' || type === 'fraction') return [`numbers/${Number(part)}`];
    return type === 'currency' ? [`currencies/${currency.toUpperCase()}`] : [];
  });
  // Groups of digits and signs have no prompts.
  const isPlain = value >= 0 && value < 1000;
  return { text: format.format(value), prompts: isPlain ? prompts : [] };
}

function moment(value: Value, kind: 'date' | 'time' | 'datetime', language: string, timezone: string): Spoken {
  const time = instantOf(value);
  const texts = { date: 'full', time: 'time', datetime: 'full time' } as const;
  const style = texts[kind];
  const zone = timezone === '' ? 'UTC' : timezone;
  const parts = timeFormat(style, language, zone).formatToParts(time);
  const month = Number(new Intl.DateTimeFormat('en', { month: 'numeric', timeZone: zone }).format(time));
  const weekday = weekdayOf(time, zone);
  const prompts = parts.flatMap(({ type, value: part }) => {
    if (type === 'weekday') return [`weekdays/${weekday}`];
    if (type === 'day') return [`days/${Number(part)}`];
    if (type === 'month') return [`months/${month}`];
    if (type === 'year') return [`numbers/${Number(part)}`];
    if (type === 'hour') return [`hours/${Number(part)}`];
    if (type === 'minute') return Number(part) === 0 ? [] : [`minutes/${Number(part)}`];
    if (type === 'dayPeriod') return [`periods/${/^p/i.test(part) ? 'pm' : 'am'}`];
    return [];
  });
  // Numerals of another script have no number.
  const isPlain = prompts.every((name) => !name.endsWith('NaN'));
  return { text: formatTime(time, style, language, zone), prompts: isPlain ? prompts : [] };
}

/** Monday is 1, Sunday 7 (ISO 8601). */
function weekdayOf(time: Date, timeZone: string): number {
  const name = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone }).format(time);
  return ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(name) + 1;
}

function duration(seconds: number, language: string): string {
  if (seconds < 0 || seconds > MAX_DURATION) throw wrong(seconds, `0 to ${MAX_DURATION} seconds`);
  const whole = Math.round(seconds);
  const units = [
    ['day', Math.floor(whole / 86_400)],
    ['hour', Math.floor(whole / 3600) % 24],
    ['minute', Math.floor(whole / 60) % 60],
    ['second', whole % 60],
  ] as const;
  const said = units.filter(([, count]) => count > 0);
  const texts = (said.length === 0 ? [['second', 0] as const] : said).map(([unit, count]) =>
    new Intl.NumberFormat(usable(language), { style: 'unit', unit, unitDisplay: 'long' }).format(count),
  );
  return new Intl.ListFormat(usable(language), { type: 'conjunction' }).format(texts);
}

function wholeNumber(number: number): readonly string[] {
  return Number.isSafeInteger(number) && number >= 0 ? [`numbers/${number}`] : [];
}

function numberOf(value: Value): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw wrong(value, 'a number');
}

function instantOf(value: Value): Date {
  try {
    return timeOf(value);
  } catch {
    throw wrong(value, 'a time: ISO 8601, or milliseconds since the epoch');
  }
}

function wrong(value: Value, expected: string): ScenarioError {
  return new ScenarioError('setting', `"value" must be ${expected}, not ${JSON.stringify(value)}`);
}
