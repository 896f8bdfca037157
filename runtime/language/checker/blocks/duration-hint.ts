import { parseDuration } from '../../duration.ts';

const UNITS: Readonly<Record<string, string>> = { ms: 'ms', s: 's', m: 'm', h: 'h', d: 'h' };

/** The suggestion for an invalid duration. */
export function durationHint(text: string): string {
  if (/^\d*\.?\d+$/.test(text) && Number(text) > 0) return `write ${text}s for seconds or ${text}ms for milliseconds`;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const short = /^millis|^msec/i.test(unit) ? 'ms' : (UNITS[unit.toLowerCase()] ?? UNITS[unit.charAt(0).toLowerCase()]);
  const simple = number === undefined || short === undefined || unit.startsWith('d') ? undefined : `${number}${short}`;
  if (simple !== undefined && parseDuration(simple) !== undefined) return `write ${simple}`;
  const [, hours, minutes] = /^(\d+)h(\d+)m$/.exec(text) ?? [];
  if (hours !== undefined) return `write ${Number(hours) * 60 + Number(minutes)}m`;
  return 'write a number with ms, s, m or h, at most a week (168h)';
}
