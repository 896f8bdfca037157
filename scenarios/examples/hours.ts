// Shared by opening.ts and appointment.ts, which import it: when somebody is there. It is no scenario itself.

/** The first and the last hour of each day, Sunday first, in UTC; undefined: closed. */
const DAYS: readonly (readonly [number, number] | undefined)[] = [
  undefined,
  [9, 17],
  [9, 17],
  [9, 17],
  [9, 17],
  [9, 15],
  undefined,
];

/** Whether somebody is there at this time, in milliseconds since 1970. */
export function isOpen(time: number): boolean {
  const at = new Date(time);
  const day = DAYS[at.getUTCDay()];
  return day !== undefined && at.getUTCHours() >= day[0] && at.getUTCHours() < day[1];
}

/** The next day with somebody there, as `2026-11-30`. */
export function nextDay(time: number): string {
  const at = new Date(time);
  do at.setUTCDate(at.getUTCDate() + 1);
  while (DAYS[at.getUTCDay()] === undefined);
  return at.toISOString().slice(0, 10);
}
