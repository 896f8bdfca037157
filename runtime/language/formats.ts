/** Numbers, times and amounts of money as people of a language write them: the rules of CLDR, through `Intl`. */
import { ValueError } from './values.ts';

/** Language where none is known, e.g. in defaults of parameters. */
const DEFAULT_LANGUAGE = 'en';
const MAX_DIGITS = 15;

export const DATE_STYLES = ['short', 'medium', 'long', 'full'] as const;
/** Parts of a time that are formats of their own. */
const TIME_PARTS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  time: { timeStyle: 'short' },
  weekday: { weekday: 'long' },
  day: { day: 'numeric' },
  month: { month: 'long' },
  year: { year: 'numeric' },
};
/** Times for programs and entities (ISO 8601): the same in every language. Swedish writes dates so. */
const ISO_LANGUAGE = 'sv';
const ISO_DATE = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
const ISO_STYLES: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  iso: ISO_DATE,
  'iso time': { ...ISO_DATE, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
};
const NUMBER_OPTIONS: Readonly<Record<string, Intl.NumberFormatOptions>> = {
  decimal: { maximumFractionDigits: 6 },
  plain: { maximumFractionDigits: 6, useGrouping: false },
  percent: { style: 'percent', maximumFractionDigits: 2 },
};

/** Styles of times: `long`, `long time` with the time of day, and parts. */
export const TIME_STYLES: readonly string[] = [
  ...DATE_STYLES,
  ...DATE_STYLES.map((style) => `${style} time`),
  ...Object.keys(TIME_PARTS),
  ...Object.keys(ISO_STYLES),
];
export const NUMBER_STYLES: readonly string[] = Object.keys(NUMBER_OPTIONS);

/** The code of a currency (ISO 4217). */
export const CURRENCY = /^[A-Za-z]{3}$/;

/** Formats are kept: making one takes some 50 µs. */
const kept = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();
const MAX_KEPT = 200;

function keep<Format extends Intl.DateTimeFormat | Intl.NumberFormat>(key: string, make: () => Format): Format {
  const known = kept.get(key);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- keys of both kinds differ
  if (known !== undefined) return known as Format;
  if (kept.size >= MAX_KEPT) kept.clear();
  const made = make();
  kept.set(key, made);
  return made;
}

/** The time that a text (ISO 8601) or a number (milliseconds since the epoch) names. @throws ValueError */
export function timeOf(value: unknown): Date {
  const time = value instanceof Date ? value : new Date(typeof value === 'bigint' ? Number(value) : (value as string));
  if (typeof value !== 'boolean' && value !== null && !Number.isNaN(time.getTime())) return time;
  throw new ValueError(`"${String(value)}" is no time: write ISO 8601, or milliseconds since the epoch`);
}

/** @throws ValueError for an unknown style or time zone */
export function timeFormat(style: string, language: string, zone = 'UTC'): Intl.DateTimeFormat {
  return keep(`t ${language} ${style} ${zone}`, () => {
    const [date = '', time] = style.split(' ');
    const dateStyle = DATE_STYLES.find((each) => each === date);
    const iso = Object.hasOwn(ISO_STYLES, style) ? ISO_STYLES[style] : undefined;
    const part = Object.hasOwn(TIME_PARTS, style) ? TIME_PARTS[style] : iso;
    if (part === undefined && (dateStyle === undefined || !TIME_STYLES.includes(style)))
      throw new ValueError(`there is no format "${style}" of a time; use ${TIME_STYLES.join(', ')}`);
    const options = part ?? { dateStyle, ...(time === undefined ? {} : { timeStyle: 'short' as const }) };
    try {
      return new Intl.DateTimeFormat(iso ? ISO_LANGUAGE : usable(language), { ...options, timeZone: zone });
    } catch (error) {
      throw new ValueError(`there is no time zone "${zone}"`, { cause: error });
    }
  });
}

export function formatTime(value: unknown, style: string, language: string, zone?: string): string {
  const text = timeFormat(style, language, zone).format(timeOf(value));
  return Object.hasOwn(ISO_STYLES, style) ? text.replace(' ', 'T') : text;
}

/** @throws ValueError for an unknown style */
export function formatNumber(value: number | bigint, style: string, language: string): string {
  const options = Object.hasOwn(NUMBER_OPTIONS, style) ? NUMBER_OPTIONS[style] : undefined;
  if (options === undefined)
    throw new ValueError(`there is no format "${style}" of a number; use ${NUMBER_STYLES.join(', ')}`);
  return keep(`n ${language} ${style}`, () => new Intl.NumberFormat(usable(language), options)).format(value);
}

/** @param display `symbol`, or `name` for speech. @throws ValueError for an unknown currency */
export function moneyFormat(
  currency: string,
  language: string,
  display: 'symbol' | 'name',
  whole: boolean,
): Intl.NumberFormat {
  if (!CURRENCY.test(currency)) throw new ValueError(`"${currency}" is no currency: write its code, e.g. EUR`);
  const digits = whole ? { maximumFractionDigits: 0, minimumFractionDigits: 0 } : {};
  return keep(
    `m ${language} ${currency} ${display} ${whole}`,
    () => new Intl.NumberFormat(usable(language), { style: 'currency', currency, currencyDisplay: display, ...digits }),
  );
}

export function formatMoney(value: number | bigint, currency: string, language: string): string {
  return moneyFormat(currency, language, 'symbol', false).format(value);
}

/** Rounds half away from zero. @throws ValueError */
export function rounded(value: number, digits: number): number {
  if (!Number.isInteger(digits) || digits < 0 || digits > MAX_DIGITS)
    throw new ValueError(`round(x, ${digits}) has no result: the second number is 0 to ${MAX_DIGITS}`);
  // Shifting the point in the text has no error of its own: 1.005 * 100 is 100.49999999999999.
  const shifted = Math.round(Number(`${Math.abs(value)}e${digits}`));
  const result = Number(`${shifted}e-${digits}`);
  // Beyond the precision of a number there is nothing to round.
  return Number.isNaN(result) ? value : Math.sign(value) * result;
}

/** The language, or the usual one for a tag that `Intl` refuses. */
export function usable(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? DEFAULT_LANGUAGE;
  } catch {
    return DEFAULT_LANGUAGE;
  }
}
