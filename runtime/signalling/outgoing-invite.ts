import { answer, type SipAnswer } from './answers.ts';
import { EarlyDialog } from './early-dialog.ts';
import { focusContact } from './focus.ts';
import { ALLOW } from './incoming-invite.ts';
import { listValues } from './list-values.ts';
import type { SipCredentials } from './registration.ts';
import type { DialogTags } from './replaces.ts';
import type { RingingJournal } from './ringing-journal.ts';
import { SessionTimerHeaders, wantedInterval } from './session-timer.ts';
import { parseSipUri } from './sip-uri.ts';
import { type DialogHome, dialogOf, type SipDialog } from './sip-dialog.ts';
import type { Srf, SrfIncomingResponse, SrfRequest, SrfUacOptions } from './srf-types.ts';

export interface OutgoingInviteOptions {
  /** Request-URI: the registered contact, or the address of a gateway. */
  readonly uri: string;
  /** Next hop when it differs from the request-URI, e.g. the connection a phone behind NAT registered over. */
  readonly nextHop?: string;
  /** Name of the SIP server to send it by; absent, or away: any. */
  readonly via?: string | undefined;
  readonly callId: string;
  /** name-addr of From and To, without tags. */
  readonly from: string;
  readonly to: string;
  readonly sdp: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of the room that calls, when it is a conference. */
  readonly room?: string;
  /** Shown when the far end asks for them (401, 407). */
  readonly credentials?: SipCredentials;
  /** Session interval to ask for, seconds (RFC 4028). */
  readonly sessionExpires?: number;
  /** How long it may ring, milliseconds: the phone stops by itself a little later, whatever became of this node. */
  readonly ringMs?: number;
  /** A provisional answer other than 100, with its session description if it has one. */
  readonly onProvisional: (answer: SipAnswer, sdp: string | undefined) => void;
}

export type OutgoingInviteResult =
  | {
      readonly answered: true;
      readonly dialog: SipDialog;
      readonly sdp: string;
      readonly answer: SipAnswer;
      /** What the device listed in Allow-Events, lower case. */
      readonly allowEvents: readonly string[];
    }
  | {
      readonly answered: false;
      readonly answer: SipAnswer;
      readonly contacts: readonly string[];
      readonly minSE?: number;
    };

/** Seconds for which our own CANCEL has precedence over the phone's own end of ringing. */
const EXPIRES_LATER = 5;

/** What SIP servers make of a connection that is gone: 503 the usual, 410 drachtio-server's. */
const UNREACHED = new Set([503, 410]);

interface SipFailure {
  status?: number;
  reason?: string;
  res?: SrfIncomingResponse;
}

/**
 * An INVITE to one contact (RFC 3261 section 13.2). `result` never rejects. A 2xx that crosses our CANCEL is ended
 * with BYE and reported as 487 (RFC 3261 section 15).
 */
export class OutgoingInvite {
  readonly callId: string;
  readonly result: Promise<OutgoingInviteResult>;
  readonly #srf: Srf;
  readonly #early: EarlyDialog;
  readonly #journal: RingingJournal | undefined;
  readonly #home: DialogHome | undefined;
  #request: SrfRequest | undefined;
  #noted: string | undefined;
  #cancelled = false;
  #settled = false;

  /**
   * @param home the SIP server that it goes by
   * @param journal where it is noted while it waits for its final answer
   */
  constructor(srf: Srf, options: OutgoingInviteOptions, home?: DialogHome, journal?: RingingJournal) {
    this.#home = home;
    this.#journal = journal;
    this.callId = options.callId;
    this.#srf = srf;
    this.#early = new EarlyDialog();
    this.result = this.#send(options);
  }

  /** Sends CANCEL, as soon as the SIP server has the INVITE. Idempotent. */
  cancel(): void {
    if (this.#cancelled || this.#settled) return;
    this.#cancelled = true;
    this.#request?.cancel();
  }

  /** What the device has listed in Allow-Events so far, lower case. */
  get allowEvents(): readonly string[] {
    return this.#early.allowEvents;
  }

  /** Of the dialogs with whoever rings (RFC 3261 section 12.1). */
  get tags(): readonly DialogTags[] {
    return this.#early.tags;
  }

  /**
   * Asks the ringing device for something by NOTIFY, e.g. event `talk`: to answer. False before it rings and after its
   * final answer.
   */
  notify(event: string, failed: (err: unknown) => void): boolean {
    if (this.#settled || this.#cancelled) return false;
    return this.#early.notify(this.#srf, event, failed);
  }

  async #send(options: OutgoingInviteOptions): Promise<OutgoingInviteResult> {
    const result = await this.#attempt(options, options.nextHop);
    const { answered, answer: final } = result;
    // The connection that the phone registered over is gone: nobody was reached, so the contact itself may be tried.
    const unreached = !answered && final.local && UNREACHED.has(final.status) && options.nextHop !== undefined;
    const last = unreached && !this.#cancelled ? await this.#attempt(options, undefined) : result;
    this.#settled = true;
    return last;
  }

  /** With the longer interval that the called side may ask for with 422, before it rings (RFC 4028 section 7.4). */
  async #attempt(options: OutgoingInviteOptions, nextHop: string | undefined): Promise<OutgoingInviteResult> {
    const result = await this.#once(options, nextHop, undefined);
    if (result.answered || result.minSE === undefined || this.#cancelled) return result;
    return this.#once(options, nextHop, result.minSE);
  }

  async #once(
    options: OutgoingInviteOptions,
    nextHop: string | undefined,
    minSE: number | undefined,
  ): Promise<OutgoingInviteResult> {
    try {
      const progress = {
        cbRequest: (err: unknown, req: SrfRequest) => {
          if (err !== null && err !== undefined) return;
          this.#request = req;
          this.#note(req, options.uri, nextHop);
          // Sent again with credentials: a transaction of its own.
          req.on('authenticate', (again: SrfRequest) => this.#note(again, options.uri, nextHop));
          if (this.#cancelled) req.cancel();
        },
        cbProvisional: (res: SrfIncomingResponse) => {
          this.#early.learn(res, nextHop);
          if (res.status > 100) options.onProvisional(fromResponse(res), res.body === '' ? undefined : res.body);
        },
      };
      const { uri, sessionExpires } = options;
      const sip = await dialogOf(
        (done) => this.#srf.createUAC(uri, uacOptions(options, nextHop, minSE), progress, done),
        { home: this.#home, ...(sessionExpires === undefined ? {} : { sessionExpires }) },
      );
      if (this.#cancelled) {
        await sip.bye();
        return { answered: false, answer: answer(487, undefined, true), contacts: [] };
      }
      this.#early.catchUp(sip);
      const allowEvents = [...this.#early.allowEvents, ...sip.allowEvents];
      return { answered: true, dialog: sip, sdp: sip.remoteSdp, answer: answer(200, 'OK', false), allowEvents };
    } catch (error) {
      return failure(error as SipFailure, this.#cancelled);
    } finally {
      this.#unnote();
    }
  }

  #note(req: SrfRequest, uri: string, nextHop: string | undefined): void {
    this.#unnote();
    const via = req.get('Via');
    const transaction = req.stackTxnId;
    this.#noted = transaction;
    this.#journal?.sent({
      transaction,
      server: this.#home?.name,
      uri,
      ...(nextHop === undefined ? {} : { nextHop }),
      ...(via === undefined ? {} : { via }),
      from: req.get('From') ?? '',
      to: req.get('To') ?? '',
      callId: this.callId,
      cseq: Number.parseInt(req.get('CSeq') ?? '', 10),
      at: Date.now(),
    });
  }

  #unnote(): void {
    if (this.#noted !== undefined) this.#journal?.settled(this.#noted);
    this.#noted = undefined;
  }
}

function uacOptions(
  { uri, headers, room, callId, from, to, sdp, credentials, sessionExpires, ringMs }: OutgoingInviteOptions,
  nextHop: string | undefined,
  minSE: number | undefined,
): SrfUacOptions {
  const timer = new SessionTimerHeaders(sessionExpires).offer(minSE);
  const protocol = parseSipUri(nextHop ?? uri)?.params['transport'] ?? 'udp';
  const focus = room === undefined ? {} : focusContact(room, protocol.toLowerCase());
  // RFC 3261 section 13.3.1.
  const expires = ringMs === undefined ? {} : { Expires: String(Math.ceil(ringMs / 1000) + EXPIRES_LATER) };
  return {
    headers: { ...timer, ...focus, ...expires, ...headers, 'Call-ID': callId, From: from, To: to, Allow: ALLOW },
    localSdp: sdp,
    ...(nextHop === undefined ? {} : { proxy: nextHop }),
    ...(credentials === undefined ? {} : { auth: { ...credentials } }),
  };
}

function failure(error: SipFailure, cancelled: boolean): OutgoingInviteResult {
  if (error.res !== undefined) {
    const redirect = error.res.status >= 300 && error.res.status < 400 ? error.res.get('Contact') : undefined;
    const minSE = error.res.status === 422 ? wantedInterval(error.res) : undefined;
    return {
      answered: false,
      answer: fromResponse(error.res),
      ...(minSE === undefined ? {} : { minSE }),
      contacts: redirect === undefined ? [] : listValues(redirect).map((contact) => contact.trim()),
    };
  }
  // The SIP server refused the request itself (no route to it, bad URI): nothing was rung.
  return { answered: false, answer: answer(cancelled ? 487 : 503, undefined, true), contacts: [] };
}

/** An answer without a sender's address was made by the SIP server: time-out, refused connection, DNS error. */
function fromResponse(res: SrfIncomingResponse): SipAnswer {
  return answer(res.status, res.reason, res.source_address === '');
}
