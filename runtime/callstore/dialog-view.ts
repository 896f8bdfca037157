/** Dialogs for REST clients (specification, "Dialog (active call)"). */

export type DialogStatus = 'forking' | 'dialog';

export interface LegView {
  readonly callid: string;
  /** End of the called party's ringing time, milliseconds since the epoch; on the A leg the string `undefined`. */
  readonly expirets: number | 'undefined';
  /** `<sip:USERNAME@DOMAIN>` */
  readonly localuri: string;
  readonly remoteuri: string;
  readonly side: 'a' | 'b';
}

/** Headers of the initiating INVITE. */
export interface DialogOpts {
  readonly 'referred-by'?: string;
  readonly replaces?: string;
}

export interface DialogView {
  readonly acallid: string;
  readonly callids: readonly string[];
  readonly dialogid: string;
  readonly esgdlg: string;
  readonly esgcallid: string;
  readonly inviteid: string;
  readonly status: DialogStatus;
  readonly legs: readonly LegView[];
  readonly localuri: string;
  readonly remoteuri: string;
  readonly site: string;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  readonly uris: readonly string[];
  readonly opts: DialogOpts;
}

/** The names allowed in a `mask`, in the order of the response. */
export const DIALOG_FIELDS = [
  'acallid',
  'callids',
  'dialogid',
  'esgdlg',
  'esgcallid',
  'inviteid',
  'status',
  'legs',
  'localuri',
  'remoteuri',
  'site',
  'startts',
  'uris',
  'opts',
] as const satisfies readonly (keyof DialogView)[];
