/** Shared by components for a leg of any live call. */
import { Type } from 'typebox';
import { type LiveDialog, type LiveLeg, notApplicable } from './dialogs.ts';

export const DIALOG_ID = Type.String({
  minLength: 1,
  maxLength: 64,
  examples: ['4f1c09d2ab7e'],
  description: 'The live call.',
});
export const LEG_CALLID = Type.String({
  minLength: 1,
  maxLength: 256,
  examples: ['7d3c@192.0.2.4'],
  description: 'Call-ID of the leg.',
});
/** One key or a sequence, in which every `'` or `,` is a pause of one second. */
export const DTMF = Type.String({
  pattern: "^[0-9*#A-Da-d',]{1,128}$",
  examples: ['12,3#'],
  description: "Keys; every ' or , is a pause of 1 s.",
});
/** Event of a NOTIFY to a device, with its parameters (RFC 6665 section 8.2.1). */
export const EVENT = Type.String({
  pattern: '^[A-Za-z0-9.!%*_+`~-]{1,64}(;[A-Za-z0-9.!%*_+`~=-]{1,64}){0,4}$',
  examples: ['talk'],
  description: 'The event, e.g. `talk`, `hold`, `check-sync`.',
});

/**
 * The leg of a Call-ID.
 * @throws ScenarioError code `not_applicable`
 */
function legOfCall({ legs }: LiveDialog, callid: string): LiveLeg {
  const leg = legs.find((each) => each.callid === callid);
  if (!leg) throw notApplicable('callid', 'is no Call-ID of a leg of the dialog');
  return leg;
}

/**
 * The leg with a device that accepts the event: any side of an answered call, or the called side of a ringing one, if the
 * device listed the event in Allow-Events (specification, "NOTIFY").
 * @throws ScenarioError code `not_applicable`
 */
export function notifiableLeg(dialog: LiveDialog, callid: string, event: string): LiveLeg {
  const leg = legOfCall(dialog, callid);
  if (dialog.status === 'forking' && leg.side === 'a')
    throw notApplicable('callid', 'is the calling side, and the call is not answered yet');
  if (!leg.allowEvents) throw notApplicable('callid', 'there is no device at this side');
  const [name = ''] = event.toLowerCase().split(';');
  if (!leg.allowEvents.includes(name))
    throw notApplicable(
      'event',
      `the device does not list it in Allow-Events: ${leg.allowEvents.join(', ') || 'none'}`,
    );
  return leg;
}

/**
 * A leg that digits can be sent to: one that has answered.
 * @throws ScenarioError code `not_applicable`
 */
export function answeredLeg(dialog: LiveDialog, callid: string): LiveLeg {
  if (dialog.status !== 'dialog') throw notApplicable('dialogid', 'the call is not answered yet');
  return legOfCall(dialog, callid);
}
