/** Times, durations, numbers and parties as people read them. */
import { language } from './words.ts';

/** @param ts milliseconds since the epoch, or an ISO date */
export function clock(ts: number | string): string {
  return new Date(ts).toLocaleTimeString(language.value);
}

/** Date and time. @param ts milliseconds since the epoch, or an ISO date */
export function moment(ts: number | string): string {
  return new Date(ts).toLocaleString(language.value, { dateStyle: 'short', timeStyle: 'medium' });
}

/** `h:mm:ss`, or `m:ss`. @param ms milliseconds */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${parts.join(':')}` : `${Math.floor(seconds / 60)}:${parts[1]}`;
}

export function count(value: number): string {
  return value.toLocaleString(language.value);
}

/** Name and number of a party. */
export function named(name: string | null, number: string | null): string {
  if (name === null || name === '' || name === number) return number ?? '';
  return `${name} (${number ?? ''})`;
}
