/** Incoming initial INVITEs. */
import { isSipTransport, type SipTransport } from './hostports.ts';
import { focusContact } from './focus.ts';
import { headerOf } from './header-of.ts';
import { SessionTimerHeaders } from './session-timer.ts';
import type { WaitingInvite } from './left-waiting.ts';
import type { DialogTags } from './replaces.ts';
import type { RingingJournal } from './ringing-journal.ts';
import { earlyContact, ownContact } from './own-contact.ts';
import { sendableStatus } from './sendable-status.ts';
import { type DialogHome, dialogOf, type SipDialog, tagsOf } from './sip-dialog.ts';
import type { Srf, SrfDialogCallback, SrfRequest, SrfResponse } from './srf-types.ts';
import { requiresReliable } from './unsupported-request.ts';

/** Supported methods, for Allow (RFC 3261 section 20.5). */
export const ALLOW = 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, MESSAGE, UPDATE, REFER, REGISTER, SUBSCRIBE, PUBLISH';

/** The caller cancelled, or the SIP server ended the transaction, before the final answer. */
export class InviteCancelled extends Error {
  override readonly name = 'InviteCancelled';
  constructor() {
    super('the caller cancelled the call');
  }
}

/** An initial INVITE, until it is answered, refused or cancelled (RFC 3261 section 13.3). */
export class IncomingInvite {
  readonly #srf: Srf;
  readonly #req: SrfRequest;
  readonly #res: SrfResponse;
  readonly #sessionExpires: number | undefined;
  readonly #home: DialogHome | undefined;
  readonly #cancelled = new AbortController();
  #tags: DialogTags | undefined;

  /**
   * @param sessionExpires requested session interval, seconds (RFC 4028)
   * @param home the SIP server that received it
   * @param journal stores it until its final answer
   */
  constructor(
    srf: Srf,
    req: SrfRequest,
    res: SrfResponse,
    sessionExpires?: number,
    home?: DialogHome,
    journal?: RingingJournal<WaitingInvite>,
  ) {
    this.#home = home;
    this.#sessionExpires = sessionExpires;
    this.#srf = srf;
    this.#req = req;
    this.#res = res;
    // First: a CANCEL may follow the INVITE in the same packet burst.
    req.on('cancel', () => this.#cancelled.abort(new InviteCancelled()));
    if (journal) this.#note(journal);
  }

  /** Name of the SIP server that received it. */
  get via(): string | undefined {
    return this.#home?.name;
  }

  get callId(): string {
    return this.#req.get('Call-ID') ?? '';
  }

  get requestUri(): string {
    return this.#req.uri;
  }

  get sdp(): string {
    return this.#req.body;
  }

  get source(): RequestSource {
    return sourceOf(this.#req);
  }

  /** The dialog, from the moment of the answer: a request within it may follow in the same chunk of data. */
  get tags(): DialogTags | undefined {
    return this.#tags;
  }

  /** Aborted with InviteCancelled when the caller cancels. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  get request(): SrfRequest {
    return this.#req;
  }

  header(name: string): string | undefined {
    return headerOf(this.#req, name);
  }

  /** Sends 180, or 183 with early media when a session description is given. */
  progress(sdp?: string): void {
    if (this.#settled()) return;
    const headers = {
      ...earlyContact(this.#req.protocol, this.#req.uri),
      ...(requiresReliable(this.#req) ? { Require: '100rel' } : {}),
    };
    if (sdp === undefined) this.#res.send(180, { headers });
    else this.#res.send(183, { body: sdp, headers: { 'Content-Type': 'application/sdp', ...headers } });
  }

  /** Refuses the call; ignored when already answered, refused or cancelled. */
  reject(status: number, reason?: string, headers: Record<string, string> = {}): void {
    if (this.#settled()) return;
    const sent = sendableStatus(status);
    if (reason === undefined) this.#res.send(sent, { headers });
    else this.#res.send(sent, reason, { headers });
  }

  /**
   * Answers with 200 and creates the dialog.
   * @param room number of the answering conference room, if any
   * @throws InviteCancelled when the caller cancelled first
   */
  async accept(sdp: string, room?: string): Promise<SipDialog> {
    this.#cancelled.signal.throwIfAborted();
    const sessionExpires = this.#sessionExpires;
    const headers = {
      Allow: ALLOW,
      ...new SessionTimerHeaders(sessionExpires).answer(this.#req),
      ...ownContact(this.#req.protocol, this.#req.uri),
      ...(room === undefined ? {} : focusContact(room, this.#req.protocol)),
    };
    const answered = (done: SrfDialogCallback) =>
      this.#srf.createUAS(this.#req, this.#res, { localSdp: sdp, headers }, (err, dialog) => {
        if (dialog !== undefined) this.#tags = tagsOf(dialog);
        done(err, dialog);
      });
    return dialogOf(answered, {
      offered: this.#req.body === '',
      home: this.#home,
      ...(sessionExpires === undefined ? {} : { sessionExpires }),
    });
  }

  /** If this process is killed, the next one answers the caller. */
  #note(journal: RingingJournal<WaitingInvite>): void {
    const { stackTxnId: transaction } = this.#req;
    const settle = (): void => journal.settled(transaction);
    const cseq = this.header('CSeq') ?? '';
    journal.sent({ transaction, server: this.#home?.name, callId: this.callId, cseq, at: Date.now() });
    this.#res.once('end', settle);
    this.#req.once('cancel', settle);
  }

  #settled(): boolean {
    return this.#cancelled.signal.aborted || this.#res.finalResponseSent;
  }
}

/** Where a request came from. */
export interface RequestSource {
  readonly protocol: SipTransport;
  readonly address: string;
  readonly port: number;
}

/** Source of a request. */
export function sourceOf(req: SrfRequest): RequestSource {
  return {
    protocol: isSipTransport(req.protocol) ? req.protocol : 'udp',
    address: req.source_address,
    port: req.source_port,
  };
}
