/** Variables at the end of a call. */
import { MEDIA_VARIABLES } from '../api/media-variables.ts';
import { causeCode } from '../core/hangup-cause.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { ShownChannel } from './shown.ts';

/** Times of a call, shown as `<name>_stamp`, `<name>_epoch` and `<name>_uepoch`; microseconds, 0 for a time that never was. */
const MOMENTS: readonly (readonly [name: string, at: (channel: ShownChannel) => number])[] = [
  ['start', ({ times }) => times.created],
  ['profile_start', ({ leg }) => leg.profileCreated],
  ['answer', ({ times }) => times.answered],
  ['bridge', ({ times }) => times.bridged],
  ['end', ({ times }) => times.hangup],
];

const units = (name: string) => [`${name}sec`, `${name}msec`, `${name}usec`] as const;

/** Lengths of a call, shown in seconds, milliseconds and microseconds; they are in microseconds here. */
const LENGTHS: readonly (readonly [names: readonly [string, string, string], of: (channel: ShownChannel) => number])[] =
  [
    [['duration', 'mduration', 'uduration'], lasted],
    [units('bill'), ({ times }) => (times.answered > 0 ? times.hangup - times.answered : 0)],
    [units('answer'), ({ times }) => (times.answered > 0 ? times.answered - times.created : 0)],
    [units('wait'), ({ times }) => (times.bridged > 0 ? times.bridged - times.created : 0)],
    [units('flow_bill'), lasted],
  ];

/** A variable; undefined when the channel does not have it. */
type Variable = (channel: ShownChannel) => string | undefined;

/** The headers `variable_<name>`, in their order: times, durations, media counters. */
const HEADERS = headersByName();

function headersByName(): ReadonlyMap<string, Variable> {
  const headers = new Map<string, Variable>();
  const add = (name: string, variable: Variable) => headers.set(`variable_${name}`, variable);
  add('hangup_cause_q850', ({ hangupCause }) => String(causeCode(hangupCause ?? '')));
  add('digits_dialed', () => 'none');
  for (const [name, at] of MOMENTS) add(`${name}_stamp`, (channel) => stamp(at(channel)));
  for (const [name, at] of MOMENTS) {
    add(`${name}_epoch`, (channel) => String(Math.floor(at(channel) / 1_000_000)));
    add(`${name}_uepoch`, (channel) => String(at(channel)));
  }
  add('last_app', (channel) => channel.get('current_application') ?? '');
  add('caller_id', ({ profile }) => `"${profile.callerIdName}" <${profile.callerIdNumber ?? ''}>`);
  for (const [[seconds, milliseconds, microseconds], length] of LENGTHS) {
    add(seconds, (channel) => String(Math.floor(length(channel) / 1_000_000)));
    add(milliseconds, (channel) => String(Math.floor(length(channel) / 1000)));
    add(microseconds, (channel) => String(length(channel)));
  }
  for (const [name, figure] of MEDIA_VARIABLES) add(name, ({ rtp }) => figure(rtp));
  return headers;
}

/**
 * The variables at the end of a call, as headers.
 *
 * @param names the headers that are needed; undefined for all
 */
export function endVariables(channel: ShownChannel, names: Iterable<string> = HEADERS.keys()): EventHeaders {
  const headers: EventHeaders = {};
  for (const name of names) {
    const value = HEADERS.get(name)?.(channel);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

function lasted({ times }: ShownChannel): number {
  return times.hangup - times.created;
}

/** `YYYY-MM-DD HH:MM:SS` in local time; undefined for a time that never was. */
function stamp(microseconds: number): string | undefined {
  if (microseconds <= 0) return undefined;
  const date = new Date(microseconds / 1000);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}
