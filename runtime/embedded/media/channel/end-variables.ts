/** Variables at the end of a call. */
import { mediaVariables } from '../api/media-variables.ts';
import { causeCode } from '../core/hangup-cause.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { ShownChannel } from './shown.ts';

/** Times of a call, shown as `<name>_stamp`, `<name>_epoch` and `<name>_uepoch`. */
const MOMENTS = [
  ['start', 'created'],
  ['profile_start', 'profileCreated'],
  ['answer', 'answered'],
  ['bridge', 'bridged'],
  ['end', 'hangup'],
] as const;

/** The variables at the end of a call: times, durations, media counters. */
export function endVariables(channel: ShownChannel): EventHeaders {
  const { times, leg } = channel;
  const at = { ...times, profileCreated: leg.profileCreated };
  const values: Record<string, string> = { hangup_cause_q850: String(causeCode(channel.hangupCause ?? '')) };
  values.digits_dialed = 'none';
  for (const [name, time] of MOMENTS) if (at[time] > 0) values[`${name}_stamp`] = stamp(at[time]);
  for (const [name, time] of MOMENTS) {
    values[`${name}_epoch`] = String(Math.floor(at[time] / 1_000_000));
    values[`${name}_uepoch`] = String(at[time]);
  }
  values.last_app = channel.get('current_application') ?? '';
  const { callerIdName, callerIdNumber = '' } = channel.profile;
  values.caller_id = `"${callerIdName}" <${callerIdNumber}>`;
  const length = times.hangup - times.created;
  lengths(values, 'duration', length);
  lengths(values, 'bill', times.answered > 0 ? times.hangup - times.answered : 0);
  lengths(values, 'answer', times.answered > 0 ? times.answered - times.created : 0);
  lengths(values, 'wait', times.bridged > 0 ? times.bridged - times.created : 0);
  lengths(values, 'flow_bill', length);
  for (const [name, value] of mediaVariables(channel.rtp)) values[name] = value;
  const headers: EventHeaders = {};
  for (const [name, value] of Object.entries(values)) headers[`variable_${name}`] = value;
  return headers;
}

/** Adds a duration, given in microseconds, in FreeSWITCH's units: `duration`, or `<name>sec`. */
function lengths(values: Record<string, string>, name: string, microseconds: number): void {
  const seconds = String(Math.floor(microseconds / 1_000_000));
  const milliseconds = String(Math.floor(microseconds / 1000));
  if (name === 'duration') {
    Object.assign(values, { duration: seconds, mduration: milliseconds, uduration: String(microseconds) });
    return;
  }
  values[`${name}sec`] = seconds;
  values[`${name}msec`] = milliseconds;
  values[`${name}usec`] = String(microseconds);
}

/** `YYYY-MM-DD HH:MM:SS` in local time. */
function stamp(microseconds: number): string {
  const date = new Date(microseconds / 1000);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}
