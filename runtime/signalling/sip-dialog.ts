import { parseAllowEvents } from './allow-events.ts';
import { headerOf } from './header-of.ts';
import { Liveness, type LivenessAnswer } from './liveness.ts';
import { Reinvites } from './reinvite.ts';
import type { DialogTags } from './replaces.ts';
import { DEFAULT_SESSION_EXPIRES, SessionTimerHeaders } from './session-timer.ts';
import type { SrfDialog, SrfDialogCallback, SrfRequest, SrfResponse } from './srf-types.ts';
import { notUnderstood } from './understood.ts';

/** What a re-INVITE or UPDATE is answered with. */
export interface ReinviteAnswer {
  readonly status: number;
  /** Present with 200: the session description of the answer. */
  readonly sdp?: string;
}

export interface SipDialogHandlers {
  /** The far end sent BYE, or the SIP server ended the dialog (no ACK, network failure). Called at most once. */
  ended(reason: string): void;
  /** A re-INVITE or UPDATE with an offer; `sdp` is undefined for a re-INVITE that asks for one (RFC 3264 section 8). */
  reinvite(sdp: string | undefined): Promise<ReinviteAnswer>;
  /** The answer that came in the ACK of an INVITE without offer; empty where the ACK has none. */
  answerInAck(sdp: string): void;
  /** INFO, MESSAGE or NOTIFY; it was answered with 200. */
  messaged(message: { readonly method: string; readonly contentType: string; readonly body: string }): void;
  /** A REFER within the dialog (RFC 3515). */
  refer(request: ReferRequest): ReferAnswer;
}

/** The answer to a REFER. */
export interface ReferAnswer {
  /** 202 promises that the phone is told how it goes. */
  readonly status: number;
  /** Called as soon as the answer is on its way: the phone may hang up from then on (RFC 5589 section 6.1). */
  readonly accepted?: () => void;
}

/** What a phone wants its peer to do. */
export interface ReferRequest {
  /** Refer-To, as it was sent. */
  readonly referTo: string;
  readonly referredBy: string | undefined;
  /**
   * Tells the phone how it goes, as a sipfrag (RFC 3515 section 2.4.5); what was told before comes first. Does nothing for a
   * phone that does not want to know (RFC 4488), or whose dialog is over.
   * @param last true for the final answer: it ends the subscription
   */
  tell(statusLine: string, last: boolean): Promise<void>;
}

/** What a dialog needs to know beside the library's own object. */
export interface SipDialogOptions {
  /** True when our 200 carried the offer, so that the answer comes in the ACK (RFC 3264 section 4). */
  readonly offered?: boolean;
  /** Session interval to ask for, seconds (RFC 4028); a phone that is silent for half of it is asked whether it is there. */
  readonly sessionExpires?: number;
  readonly home?: DialogHome | undefined;
}

/** The SIP server that has a dialog. */
export interface DialogHome {
  readonly name: string;
  /** The live dialogs that it has. */
  readonly dialogs: Set<SipDialog>;
}

/** An established INVITE dialog with a phone, gateway or conference (RFC 3261 section 12). */
export class SipDialog {
  readonly #dialog: SrfDialog;
  #handlers: SipDialogHandlers | undefined;
  /** A fast phone asks for something before anybody listens: it waits for whoever does. */
  readonly #attended = Promise.withResolvers<SipDialogHandlers>();
  #ended: string | undefined;
  #awaitingAnswerInAck: boolean;
  /** The answer of an ACK that came before anybody listened. */
  #earlyAnswer: string | undefined;

  /** REFERs that were accepted. */
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
        if (this.#handlers === undefined) void this.#attended.promise.then((handlers) => handlers.messaged(message));
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

  /** What a called device listed in Allow-Events of its answer, lower case. */
  get allowEvents(): readonly string[] {
    return parseAllowEvents(this.#dialog.res && headerOf(this.#dialog.res, 'Allow-Events'));
  }

  get remoteSdp(): string {
    return this.#dialog.remote.sdp;
  }

  /** Names who is told of what happens; an end that came before is told at once. */
  handle(handlers: SipDialogHandlers): void {
    this.#handlers = handlers;
    this.#attended.resolve(handlers);
    if (this.#earlyAnswer !== undefined) handlers.answerInAck(this.#earlyAnswer);
    this.#earlyAnswer = undefined;
    if (this.#ended !== undefined) handlers.ended(this.#ended);
  }

  /** Asks the phone whether it is there; when it is not, or the SIP server has lost the dialog, the dialog ends. */
  check(): void {
    this.#liveness.askNow();
  }

  /** Sends BYE and settles with its answer, whatever that is. Does nothing when the dialog is over. */
  async bye(headers: Record<string, string> = {}): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#ended = 'local';
    this.#over();
    await unlessGone(this.#dialog.destroy({ headers }));
  }

  /**
   * Sends a re-INVITE with a new offer and gives the answer.
   * @throws ReinviteRefused
   */
  reinvite(sdp: string): Promise<string> {
    return this.#reinvites.send(sdp);
  }

  /** Sends a request within the dialog and gives the status of its final answer. */
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

  /** Asks the device for something (device control: `talk`, `hold`, `check-sync`, ...). */
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
    this.#handlers?.ended(reason);
  }

  #over(): void {
    this.#liveness.stop();
    this.#home?.dialogs.delete(this);
  }

  /** OPTIONS, as every phone answers it, within a dialog too (RFC 3261 section 11). */
  async #ask(): Promise<LivenessAnswer> {
    const { status, source_address: source } = await this.#dialog.request({ method: 'OPTIONS' });
    return { status, local: source === '' };
  }

  /** The phone is gone without BYE. It gets one nevertheless, in case that it was only out of reach. */
  #lost(): void {
    if (this.#ended !== undefined) return;
    // Whether it is answered does not matter any more.
    this.#dialog.destroy({ headers: { Reason: 'SIP;cause=408;text="Session lost"' } }).catch(() => undefined);
    this.#end('session lost');
  }

  async #referred(req: SrfRequest, res: SrfResponse): Promise<void> {
    this.#liveness.heard();
    const refusal = notUnderstood(req);
    if (refusal !== undefined) {
      res.send(refusal.status, { headers: refusal.headers });
      return;
    }
    const handlers = await this.#attended.promise;
    const silent = /^\s*false\b/i.test(req.get('Refer-Sub') ?? '');
    // Those after the first are told apart by their CSeq (RFC 3515 section 2.4.6).
    const event = this.#refers === 0 ? 'refer' : `refer;id=${Number.parseInt(req.get('CSeq') ?? '', 10)}`;
    let told = Promise.resolve();
    const { status, accepted } = handlers.refer({
      referTo: headerOf(req, 'Refer-To') ?? '',
      referredBy: headerOf(req, 'Referred-By'),
      tell: (statusLine, last) => {
        if (!silent) told = told.catch(() => undefined).then(() => this.#notifyRefer(event, statusLine, last));
        return told;
      },
    });
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
    const handlers = await this.#attended.promise;
    const answer = this.#reinvites.pending ? { status: 491 } : await handlers.reinvite(offer);
    if (answer.sdp === undefined) {
      res.send(answer.status);
      return;
    }
    this.#awaitingAnswerInAck = offer === undefined;
    res.send(answer.status, { body: answer.sdp, headers: { 'Content-Type': 'application/sdp', ...timer } });
  }
}

/** Waits for a request within a dialog that the far end may be ending: its BYE crosses the request (RFC 3261 section 15). */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    // The SIP server has answered the BYE, and has the dialog no more.
    if ((error as NodeJS.ErrnoException).code !== 'ENODIALOG') throw error;
  }
}

/** The tags of a dialog of drachtio-srf. */
export function tagsOf({ sip: { localTag = '', remoteTag = '' } }: SrfDialog): DialogTags {
  return { local: localTag, remote: remoteTag };
}

/**
 * The dialog that a call of drachtio-srf makes. It is taken over within the callback: a BYE may follow in the same chunk
 * of data, and would be lost on anyone who listens a moment later, as after a promise.
 */
export function dialogOf(make: (done: SrfDialogCallback) => void, options?: SipDialogOptions): Promise<SipDialog> {
  return new Promise((resolve, reject) => {
    make((err, dialog) => {
      if (dialog === undefined) reject(err);
      else resolve(new SipDialog(dialog, options));
    });
  });
}
