/** Established SIP dialogs. */
import { parseAllowEvents } from './allow-events.ts';
import { headerOf } from './header-of.ts';
import { Liveness, type LivenessAnswer } from './liveness.ts';
import { Unconnected } from './outliving-dialogs.ts';
import { Reinvites } from './reinvite.ts';
import type { DialogTags } from './replaces.ts';
import { sendableStatus } from './sendable-status.ts';
import { DEFAULT_SESSION_EXPIRES, SessionTimerHeaders } from './session-timer.ts';
import type { SrfDialog, SrfDialogCallback, SrfRequest, SrfResponse } from './srf-types.ts';
import { unsupportedRequest } from './unsupported-request.ts';

/** Why a dialog ended whose far end does not know it any more. */
const LOST = 'session lost';
/** Why the SIP server ended a dialog whose caller did not take the answer (RFC 3261 section 13.3.1.4). */
const NO_ACK = 'ACK timeout';

/** The answer to a re-INVITE or UPDATE. */
export interface ReinviteAnswer {
  readonly status: number;
  /** With 200: the session description of the answer. */
  readonly sdp?: string;
}

export interface SipDialogHandlers {
  /**
   * The far end sent BYE, or the SIP server ended the dialog (no ACK, network failure). Called at most once.
   * @param lost the far end or the SIP server has lost the dialog: nobody hung up
   */
  ended(reason: string, lost: boolean): void;
  /**
   * A re-INVITE or UPDATE with an offer; `sdp` is undefined for an offerless re-INVITE (RFC 3264 section 8).
   * @param cancelled the far end has sent CANCEL, and the SIP server has answered
   */
  reinvite(sdp: string | undefined, cancelled?: AbortSignal): Promise<ReinviteAnswer>;
  /** The answer in the ACK of an offerless INVITE; empty when missing. */
  answerInAck(sdp: string): void;
  /** An INFO, MESSAGE or NOTIFY, already answered with 200. */
  messaged(message: { readonly method: string; readonly contentType: string; readonly body: string }): void;
  /** A REFER within the dialog (RFC 3515). */
  refer(request: ReferRequest): ReferAnswer | Promise<ReferAnswer>;
}

/** The answer to a REFER. */
export interface ReferAnswer {
  /** 202 promises NOTIFYs about the progress. */
  readonly status: number;
  /** Called once the answer is sent: from then on the phone may hang up (RFC 5589 section 6.1). */
  readonly accepted?: () => void;
}

/** A REFER received from the phone. */
export interface ReferRequest {
  /** Refer-To, unchanged. */
  readonly referTo: string;
  readonly referredBy: string | undefined;
  /**
   * Sends a NOTIFY about the progress, as a sipfrag (RFC 3515 section 2.4.5), after earlier ones. No effect for a phone
   * that declined notifications (RFC 4488), or after the end of its dialog.
   * @param last true for the final answer: it ends the subscription
   */
  tell(statusLine: string, last: boolean): Promise<void>;
}

/** A dialog's properties besides the library's object. */
export interface SipDialogOptions {
  /** True when our 200 carried the offer and the ACK carries the answer (RFC 3264 section 4). */
  readonly offered?: boolean;
  /** Requested session interval, seconds (RFC 4028); a phone silent for half of it is probed. */
  readonly sessionExpires?: number;
  readonly home?: DialogHome | undefined;
}

/** What another application needs to send requests within a dialog. */
export interface SipDialogPlace {
  /** Name of the SIP server. */
  readonly server: string;
  /** The SIP server's name of the dialog. */
  readonly dialog: string;
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
}

/** The SIP server of a dialog. */
export interface DialogHome {
  readonly name: string;
  /** False while its connection is lost. */
  readonly connected: boolean;
  /** Its live dialogs. */
  readonly dialogs: Set<SipDialog>;
}

/** The question was lost with the connection to the SIP server. */
const UNASKED: LivenessAnswer = { status: 503, local: false };

/** An established INVITE dialog with a phone, gateway or conference (RFC 3261 section 12). */
export class SipDialog {
  readonly #dialog: SrfDialog;
  #handlers: SipDialogHandlers | undefined;
  /** Resolves when there is a listener; early requests of a fast phone wait for it. */
  readonly #attended = Promise.withResolvers<void>();
  #ended: string | undefined;
  #awaitingAnswerInAck: boolean;
  /** The answer of an ACK that came before a listener was set. */
  #earlyAnswer: string | undefined;

  /** Accepted REFERs. */
  #refers = 0;
  readonly #home: DialogHome | undefined;
  readonly #reinvites: Reinvites;
  readonly #timer: SessionTimerHeaders;
  readonly #liveness: Liveness;

  constructor(dialog: SrfDialog, options: SipDialogOptions = {}) {
    const { offered = false, sessionExpires = DEFAULT_SESSION_EXPIRES } = options;
    this.#dialog = dialog;
    this.#reinvites = new Reinvites(dialog);
    this.#home = options.home;
    this.#home?.dialogs.add(this);
    this.#awaitingAnswerInAck = offered;
    this.#timer = new SessionTimerHeaders(sessionExpires);
    this.#liveness = new Liveness(
      sessionExpires * 500,
      () => this.#ask(),
      () => this.#lost(),
    );
    dialog.on('destroy', (_req: SrfRequest, reason?: string) => this.#end(reason ?? 'BYE'));
    dialog.on('modify', (req: SrfRequest, res: SrfResponse) => void this.#modified(req, res));
    dialog.on('update', (req: SrfRequest, res: SrfResponse) => void this.#modified(req, res));
    dialog.on('ack', (req: SrfRequest) => {
      if (!this.#awaitingAnswerInAck) return;
      this.#awaitingAnswerInAck = false;
      if (this.#handlers === undefined) this.#earlyAnswer = req.body;
      else this.#handlers.answerInAck(req.body);
    });
    for (const event of ['info', 'message', 'notify']) {
      dialog.on(event, (req: SrfRequest, res: SrfResponse) => {
        this.#liveness.heard();
        res.send(200);
        const message = { method: req.method, contentType: req.get('Content-Type') ?? '', body: req.body };
        if (this.#handlers === undefined) void this.#listener().then((handlers) => handlers.messaged(message));
        else this.#handlers.messaged(message);
      });
    }
    dialog.on('refer', (req: SrfRequest, res: SrfResponse) => void this.#referred(req, res));
  }

  get callId(): string {
    return this.#dialog.sip.callId;
  }

  get tags(): DialogTags {
    return tagsOf(this.#dialog);
  }

  /** Allow-Events in a called device's answer, lower case. */
  get allowEvents(): readonly string[] {
    return parseAllowEvents(this.#dialog.res && headerOf(this.#dialog.res, 'Allow-Events'));
  }

  /** Where it is; undefined without a SIP server of its own. */
  get place(): SipDialogPlace | undefined {
    if (this.#home === undefined) return undefined;
    const { local, remote } = this.tags;
    const { id: dialog } = this.#dialog;
    return { server: this.#home.name, dialog, callId: this.callId, localTag: local, remoteTag: remote };
  }

  get remoteSdp(): string {
    return this.#dialog.remote.sdp;
  }

  /** Sets the listener; an earlier end is reported immediately. */
  handle(handlers: SipDialogHandlers): void {
    this.#handlers = handlers;
    this.#attended.resolve();
    if (this.#earlyAnswer !== undefined) handlers.answerInAck(this.#earlyAnswer);
    this.#earlyAnswer = undefined;
    if (this.#ended !== undefined) handlers.ended(this.#ended, nobodyHungUp(this.#ended));
  }

  /** The present listener, once there is one. */
  async #listener(): Promise<SipDialogHandlers> {
    await this.#attended.promise;
    return this.#handlers as SipDialogHandlers;
  }

  /**
   * Probes the phone; when it is gone, or the SIP server has lost the dialog, the dialog ends.
   * @param everyMs milliseconds without a request after which it is probed from now on
   */
  check(everyMs?: number): void {
    this.#liveness.askNow(everyMs);
  }

  /** Sends BYE and settles with any answer, or at once while the SIP server is away. No effect after the end of the dialog. */
  async bye(headers: Record<string, string> = {}): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#ended = 'local';
    this.#over();
    try {
      await unlessGone(this.#dialog.destroy({ headers }));
    } catch (error) {
      if (!(error instanceof Unconnected)) throw error;
    }
  }

  /** Leaves the dialog as it is: another application goes on with it. */
  leave(): void {
    if (this.#ended !== undefined) return;
    this.#ended = 'left';
    this.#over();
    const { srf } = this.#dialog as { readonly srf: unknown };
    (srf as { removeDialog(dialog: SrfDialog): void }).removeDialog(this.#dialog);
    this.#dialog.removeAllListeners();
  }

  /**
   * Sends a re-INVITE with a new offer and returns the answer.
   * @param unwanted cancels it
   * @throws ReinviteRefused
   */
  reinvite(sdp: string, unwanted?: AbortSignal): Promise<string> {
    return this.#reinvites.send(sdp, unwanted);
  }

  /** Sends a request within the dialog and returns the status of its final answer. */
  async request(method: string, headers: Record<string, string>, body?: string): Promise<number> {
    const res = await this.#dialog.request({ method, headers, ...(body === undefined ? {} : { body }) });
    return res.status;
  }

  async #notifyRefer(event: string, statusLine: string, last: boolean): Promise<void> {
    if (this.#ended !== undefined) return;
    const headers = {
      Event: event,
      'Subscription-State': last ? 'terminated;reason=noresource' : 'active;expires=60',
      'Content-Type': 'message/sipfrag;version=2.0',
    };
    await unlessGone(this.request('NOTIFY', headers, statusLine));
  }

  /** Sends a device control event (`talk`, `hold`, `check-sync`, ...) by NOTIFY. */
  async notify(event: string): Promise<void> {
    if (this.#ended !== undefined) return;
    await unlessGone(this.request('NOTIFY', { Event: event, 'Subscription-State': 'active' }));
  }

  /** Sends one digit by INFO. */
  async sendDtmf(digit: string): Promise<void> {
    if (this.#ended !== undefined) return;
    const body = `Signal=${digit}\r\nDuration=160\r\n`;
    await unlessGone(this.request('INFO', { 'Content-Type': 'application/dtmf-relay' }, body));
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#over();
    this.#handlers?.ended(reason, nobodyHungUp(reason));
  }

  #over(): void {
    this.#liveness.stop();
    this.#home?.dialogs.delete(this);
  }

  /** Probes by OPTIONS, which every phone answers within a dialog (RFC 3261 section 11). */
  async #ask(): Promise<LivenessAnswer> {
    // It is asked when the SIP server is back.
    if (this.#isAway()) return UNASKED;
    try {
      const { status, source_address: source } = await this.#dialog.request({ method: 'OPTIONS' });
      return { status, local: source === '' };
    } catch (error) {
      if (this.#isAway()) return UNASKED;
      throw error;
    }
  }

  /** Whether the connection to the SIP server is lost. */
  #isAway(): boolean {
    return this.#home?.connected === false;
  }

  /** The phone is gone without BYE. Sends one anyway, in case it was only unreachable. */
  #lost(): void {
    if (this.#ended !== undefined) return;
    // The answer no longer matters.
    this.#dialog.destroy({ headers: { Reason: 'SIP;cause=408;text="Session lost"' } }).catch(() => undefined);
    this.#end(LOST);
  }

  async #referred(req: SrfRequest, res: SrfResponse): Promise<void> {
    this.#liveness.heard();
    const refusal = unsupportedRequest(req);
    if (refusal !== undefined) {
      res.send(refusal.status, { headers: refusal.headers });
      return;
    }
    const handlers = await this.#listener();
    const silent = /^\s*false\b/i.test(req.get('Refer-Sub') ?? '');
    // Later REFERs are distinguished by their CSeq (RFC 3515 section 2.4.6).
    const event = this.#refers === 0 ? 'refer' : `refer;id=${Number.parseInt(req.get('CSeq') ?? '', 10)}`;
    let told = Promise.resolve();
    const answering = handlers.refer({
      referTo: headerOf(req, 'Refer-To') ?? '',
      referredBy: headerOf(req, 'Referred-By'),
      tell: (statusLine, last) => {
        if (!silent) told = told.catch(() => undefined).then(() => this.#notifyRefer(event, statusLine, last));
        return told;
      },
    });
    // Another node may have to be asked.
    const { status, accepted } = answering instanceof Promise ? await answering : answering;
    const taken = status < 300;
    if (taken) this.#refers += 1;
    res.send(status, taken && silent ? { headers: { 'Refer-Sub': 'false' } } : {});
    accepted?.();
  }

  async #modified(req: SrfRequest, res: SrfResponse): Promise<void> {
    this.#liveness.heard();
    const offer = req.body === '' ? undefined : req.body;
    const timer = headerOf(req, 'Session-Expires') !== undefined ? this.#timer.answer(req) : {};
    if (offer === undefined && req.method === 'UPDATE') {
      res.send(200, { headers: timer });
      return;
    }
    const cancelled = new AbortController();
    req.on('cancel', () => cancelled.abort());
    const handlers = await this.#listener();
    // Cancelled before anybody listened: the session stays as it is (RFC 3261 section 14.1).
    if (cancelled.signal.aborted) return;
    const answer = this.#reinvites.pending ? { status: 491 } : await handlers.reinvite(offer, cancelled.signal);
    if (cancelled.signal.aborted) return;
    if (answer.sdp === undefined) {
      res.send(sendableStatus(answer.status));
      return;
    }
    this.#awaitingAnswerInAck = offer === undefined;
    res.send(answer.status, { body: answer.sdp, headers: { 'Content-Type': 'application/sdp', ...timer } });
  }
}

/**
 * Awaits a request within a dialog that the far end may be ending: its BYE crosses the request (RFC 3261 section 15).
 */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    // The SIP server has answered the BYE and removed the dialog.
    if ((error as NodeJS.ErrnoException).code !== 'ENODIALOG') throw error;
  }
}

/** The tags of a drachtio-srf dialog. */
export function tagsOf({ sip: { localTag = '', remoteTag = '' } }: SrfDialog): DialogTags {
  return { local: localTag, remote: remoteTag };
}

/**
 * The dialog created by a drachtio-srf call. Listeners are attached within the callback: a BYE in the same chunk of
 * data would be lost before a later attachment, e.g. after a promise.
 */
export function dialogOf(make: (done: SrfDialogCallback) => void, options?: SipDialogOptions): Promise<SipDialog> {
  return new Promise((resolve, reject) => {
    make((err, dialog) => {
      if (dialog === undefined) reject(err);
      else resolve(new SipDialog(dialog, options));
    });
  });
}

function nobodyHungUp(reason: string): boolean {
  return reason === LOST || reason === NO_ACK;
}
