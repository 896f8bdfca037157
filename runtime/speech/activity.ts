/** The activity time of transcriptions. */
import type { AsrOptions } from '../domain/index.ts';

const DAY_MINUTES = 1440;

type ActivityTime = NonNullable<AsrOptions['activity_time']>;

/**
 * Milliseconds until work may begin; 0 within the activity time. The time from `from` to `to` may span midnight; equal
 * times mean the whole day.
 * @param now milliseconds since the epoch
 */
export function untilActive(activity: ActivityTime | undefined, now: number): number {
  if (activity === undefined || activity.from === activity.to) return 0;
  const [from, to] = [minutesOf(activity.from), minutesOf(activity.to)];
  const time = minutesAt(now, activity.timezone);
  const inside = from < to ? time >= from && time < to : time >= from || time < to;
  if (inside) return 0;
  const minutes = (from - time + DAY_MINUTES) % DAY_MINUTES;
  return minutes * 60_000 - (now % 60_000);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function minutesAt(now: number, timezone: string | undefined): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  });
  return minutesOf(format.format(now));
}
