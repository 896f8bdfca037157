/** Cron expressions of five fields (POSIX crontab): minute, hour, day of month, month, day of week. */

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  // 0 and 7 are both Sunday.
  { name: 'day of week', from: 0, to: 7, names: DAYS },
];

/** An invalid cron expression. */
export class CronError extends Error {
  override readonly name = 'CronError';
}

/** A schedule, in the wall-clock time of a time zone. */
export class Cron {
  readonly #fields: readonly ReadonlySet<number>[];
  readonly #dayRestricted: boolean;
  readonly #weekdayRestricted: boolean;
  readonly #zone: Intl.DateTimeFormat;

  /**
   * @param timezone IANA name, e.g. `Europe/London`
   * @throws CronError
   */
  constructor(expression: string, timezone = 'UTC') {
    const parts = expression.trim().split(/\s+/);
    if (parts.length !== FIELDS.length)
      throw new CronError(`"${expression}" has ${parts.length} fields instead of 5: minute hour day month weekday`);
    this.#fields = FIELDS.map((field, index) => values(parts[index] ?? '', field));
    this.#dayRestricted = !(parts[2] ?? '').startsWith('*');
    this.#weekdayRestricted = !(parts[4] ?? '').startsWith('*');
    this.#zone = formatOf(timezone);
  }

  /** True when the schedule includes the minute of this moment. */
  matches(now: number): boolean {
    const local = Object.fromEntries(this.#zone.formatToParts(now).map(({ type, value }) => [type, value]));
    const [minutes, hours, days, months, weekdays] = this.#fields;
    const weekday = DAYS.indexOf((local['weekday'] ?? '').toLowerCase());
    const day = days?.has(Number(local['day'])) === true;
    const dayOfWeek = weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7) === true);
    // With both days restricted, either one matches (POSIX crontab).
    const date = this.#dayRestricted && this.#weekdayRestricted ? day || dayOfWeek : day && dayOfWeek;
    return (
      date &&
      minutes?.has(Number(local['minute'])) === true &&
      hours?.has(Number(local['hour'])) === true &&
      months?.has(Number(local['month'])) === true
    );
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      minute: 'numeric',
      hour: 'numeric',
      day: 'numeric',
      month: 'numeric',
      weekday: 'short',
    });
  } catch (error) {
    throw new CronError(`there is no time zone "${timeZone}"`, { cause: error });
  }
}

/** `*`, `5`, `1-5`, `mon-fri`, `0,30`, `*` with a step, `10-40/5`. */
function values(text: string, field: Field): Set<number> {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part) ?? [];
    const [first = '', last] = range.split('-');
    const all = range === '*';
    const from = all ? field.from : number(first, field, text);
    const to = all || (last === undefined && part.includes('/')) ? field.to : number(last ?? first, field, text);
    const by = Number(step);
    if (from > to || by === 0) throw new CronError(`"${text}" is no ${field.name}`);
    for (let value = from; value <= to; value += by) found.add(value);
  }
  return found;
}

function number(text: string, { name, from, to, names = [] }: Field, whole: string): number {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + from : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= from && value <= to)) throw new CronError(`"${whole}" is no ${name} (${from} to ${to})`);
  return value;
}
