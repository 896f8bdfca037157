/** Live dialogs for components. */
import type { DomainName } from '../../domain-name/index.ts';
import type { TailStep } from '../dtmf-tail.ts';
import { ScenarioError } from '../../language/index.ts';
import type { DtmfProto } from './dtmf.ts';

export type Side = 'a' | 'b';

/** One party of a live dialog. */
export interface LiveLeg {
  readonly callid: string;
  readonly side: Side;
  /** Number shown to other parties. */
  readonly number: string;
  /** `<sip:USERNAME@DOMAIN>`; a sipuser has two, by login and by number. */
  readonly uris: readonly string[];
  readonly domain: DomainName;
  /** The device's Allow-Events, lower case; undefined for a party without a device, e.g. a scenario. */
  readonly allowEvents: readonly string[] | undefined;
  /** Can be taken out of the call: a phone, not a scenario or a conference. */
  readonly movable: boolean;
  /** Can be joined with a party of another call: a phone or a conference. */
  readonly joinable: boolean;
}

/** `temporary`: the present hold. `once`: the present hold, or the next one. `permanent`: the present one and all later ones. */
export type StopMelodyMode = 'temporary' | 'once' | 'permanent';

/** A live dialog for components; all values are current. */
export interface LiveDialog {
  readonly dialogid: string;
  readonly status: 'forking' | 'dialog';
  /** The caller first; while the dialog forks, every called contact. */
  readonly legs: readonly LiveLeg[];
  /** Labels in the order of their addition; the array is a copy. */
  readonly bindings: readonly string[];
  /** One of the parties holds the call. */
  readonly held: boolean;
  setBindings(labels: readonly string[]): void;
  /**
   * Queues digits for a leg.
   * @returns false when nothing is sent: the leg has not answered, or its queue is full
   */
  sendDtmf(callid: string, steps: readonly TailStep[], proto: DtmfProto): boolean;
  /** Sends a NOTIFY with this event to the device of a leg; false when the device is unreachable. */
  notify(callid: string, event: string): boolean;
  /** Stops the hold melody; false when the mode needs a held call and the call is not on hold. */
  stopHoldMelody(mode: StopMelodyMode): Promise<boolean>;
  /** BYE to both parties, CANCEL to all ringing phones. */
  terminate(): void;
}

/** The live dialogs of this node; implemented by the switch. */
export interface DialogPort {
  /** A dialog of this domain; undefined for an unknown or ended one. */
  find(domain: DomainName, dialogid: string): LiveDialog | undefined;
}

/**
 * The live dialog of this id.
 * @throws ScenarioError code `dialog_not_found`
 */
export function liveDialog(
  { dialogs }: { readonly dialogs: DialogPort },
  domain: DomainName,
  dialogid: string,
): LiveDialog {
  const dialog = dialogs.find(domain, dialogid);
  if (!dialog) throw new ScenarioError('dialog_not_found', 'Dialog not found');
  return dialog;
}

/** The leg of a dialog with this SIP URI (by login or by number, with or without brackets) or Call-ID. */
export function legBy({ legs }: Pick<LiveDialog, 'legs'>, by: string): LiveLeg | undefined {
  const uri = `<${by.trim().replace(/^<|>$/g, '')}>`.toLowerCase();
  return legs.find(({ callid, uris }) => callid === by || uris.some((own) => own.toLowerCase() === uri));
}

/**
 * The error of an operation that the state of its dialog does not allow.
 * @param field the conflicting parameter or fact
 */
export function notApplicable(field: string, reason: string): ScenarioError {
  return new ScenarioError('not_applicable', `${field}: ${reason}`, { details: { field, reason } });
}
