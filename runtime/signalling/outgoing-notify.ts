/** Outgoing NOTIFYs (RFC 6665 section 8.1). */
import type { SipAnswer } from './answers.ts';
import { sendOutgoingRequest } from './outgoing-request.ts';
import type { Srf } from './srf-types.ts';

/** The dialog of a subscription, as its notifier sees it. */
export interface NotifierDialog {
  /** The SIP server's name for it; undefined: the server does not know it any more. */
  readonly server: string | undefined;
  readonly callId: string;
  /** Name-addrs with tags. */
  readonly local: string;
  readonly remote: string;
  /** Contact of this side, as the SIP server wrote it into the answer: each NOTIFY has it (RFC 6665 section 8.2.1). */
  readonly contact: string;
  /** Contact of the subscriber. */
  readonly target: string;
}

/** A NOTIFY of a subscription, or an unsolicited one without a dialog. */
export interface OutgoingNotifyOptions {
  readonly dialog: NotifierDialog;
  /** Next hop outside the server's dialog, if not the target. */
  readonly nextHop: string | undefined;
  /** Name of the SIP server to use; undefined: any. */
  readonly via: string | undefined;
  /** Used outside the server's dialog. */
  readonly cseq: number;
  readonly event: string;
  /** Subscription-State. */
  readonly state: string;
  /** Undefined: no body. */
  readonly body: { readonly type: string; readonly text: string } | undefined;
}

export interface NotifyResult {
  readonly answer: SipAnswer;
  /** False: the SIP server does not know the dialog, and the NOTIFY went out without it. */
  readonly inDialog: boolean;
}

/** Milliseconds to wait for an answer: timer F with the default T1 (RFC 3261 section 17.1.2.2), and a little more. */
const PATIENCE_MS = 33_000;

/**
 * Sends a NOTIFY in the server's dialog. When the server has none, as after its restart, the NOTIFY is built to be in it all
 * the same. Never rejects.
 */
export async function sendOutgoingNotify(
  srf: Srf,
  { dialog, nextHop, cseq, event, state, body }: Omit<OutgoingNotifyOptions, 'via'>,
): Promise<NotifyResult> {
  const headers = {
    Event: event,
    'Subscription-State': state,
    Contact: dialog.contact,
    ...(body !== undefined && { 'Content-Type': body.type }),
  };
  const common = {
    method: 'NOTIFY',
    uri: dialog.target,
    patienceMs: PATIENCE_MS,
    ...(body && { body: body.text }),
  } as const;
  if (dialog.server !== undefined) {
    const answer = await sendOutgoingRequest(srf, { ...common, headers, dialog: dialog.server });
    if (!answer.unsent) return { answer, inDialog: true };
  }
  const { callId, local, remote } = dialog;
  const own = { From: local, To: remote, 'Call-ID': callId, CSeq: `${cseq} NOTIFY` };
  const answer = await sendOutgoingRequest(srf, { ...common, headers: { ...own, ...headers }, nextHop });
  return { answer, inDialog: false };
}
