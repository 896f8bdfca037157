import type { TailStep } from '../dtmf-tail.ts';
import { ScenarioError } from '../../language/index.ts';
import type { DtmfProto } from './dtmf.ts';

export type Side = 'a' | 'b';

/** One party of a live dialog. */
export interface LiveLeg {
  readonly callid: string;
  readonly side: Side;
  /** Number under which others see the party. */
  readonly number: string;
  /** `<sip:USERNAME@DOMAIN>`; a sipuser has two, by login and by number. */
  readonly uris: readonly string[];
  readonly domain: string;
  /** What its device lists in Allow-Events, lower case; undefined where there is no device to ask, e.g. a scenario's. */
  readonly allowEvents: readonly string[] | undefined;
  /** It can be taken out of the call: it is a phone, not a scenario or a conference. */
  readonly movable: boolean;
  /** Somebody from another call can be joined with it: it is a phone or a conference. */
  readonly joinable: boolean;
}

/** `temporary`: this hold. `once`: this hold, or else the next one. `permanent`: this one and all to come. */
export type StopMelodyMode = 'temporary' | 'once' | 'permanent';

/** A live dialog as components see and change it: whatever it shows is as of now. */
export interface LiveDialog {
  readonly dialogid: string;
  readonly status: 'forking' | 'dialog';
  /** The caller first; while the dialog forks, every called contact. */
  readonly legs: readonly LiveLeg[];
  /** Labels in the order in which they came; the array is a copy. */
  readonly bindings: readonly string[];
  /** One of the parties holds the call. */
  readonly held: boolean;
  setBindings(labels: readonly string[]): void;
  /**
   * Queues digits for a leg.
   * @returns false when nothing is sent: the leg has not answered, or too many digits wait already
   */
  sendDtmf(callid: string, steps: readonly TailStep[], proto: DtmfProto): boolean;
  /** Sends a NOTIFY with this event to the device of a leg; false when it cannot be asked (any more). */
  notify(callid: string, event: string): boolean;
  /** Stops the hold melody; false when the mode needs a call on hold, and nobody holds it. */
  stopHoldMelody(mode: StopMelodyMode): Promise<boolean>;
  /** BYE to both parties, CANCEL to all that ring. */
  terminate(): void;
}

/** The live dialogs of this node; the switch implements it. */
export interface DialogPort {
  /** A dialog of this domain; undefined when there is none of that id (any more). */
  find(domain: string, dialogid: string): LiveDialog | undefined;
}

/**
 * The live dialog of this id.
 * @throws ScenarioError code `dialog_not_found`
 */
export function liveDialog(
  { dialogs }: { readonly dialogs: DialogPort },
  domain: string,
  dialogid: string,
): LiveDialog {
  const dialog = dialogs.find(domain, dialogid);
  if (!dialog) throw new ScenarioError('dialog_not_found', 'Dialog not found');
  return dialog;
}

/** The leg of a dialog that a SIP URI (by login or by number, with or without brackets) or a Call-ID means. */
export function legBy({ legs }: LiveDialog, by: string): LiveLeg | undefined {
  const uri = `<${by.trim().replace(/^<|>$/g, '')}>`.toLowerCase();
  return legs.find(({ callid, uris }) => callid === by || uris.some((own) => own.toLowerCase() === uri));
}

/**
 * What an operation that does not fit the state of its dialog is refused with.
 * @param field the parameter or fact that does not fit
 */
export function notApplicable(field: string, reason: string): ScenarioError {
  return new ScenarioError('not_applicable', `${field}: ${reason}`, { details: { field, reason } });
}
