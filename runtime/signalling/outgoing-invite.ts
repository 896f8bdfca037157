/** Outgoing INVITEs. */
import { answer, answerOf, type SipAnswer } from './answers.ts';
import { EarlyDialog } from './early-dialog.ts';
import { focusContact } from './focus.ts';
import { ALLOW } from './incoming-invite.ts';
import { ownContact } from './own-contact.ts';
import { listValues } from './list-values.ts';
import type { SipCredentials } from './registration.ts';
import { traced } from '../tracing/index.ts';
import type { DialogTags } from './replaces.ts';
import type { RingingJournal } from './ringing-journal.ts';
import { SessionTimerHeaders, wantedInterval } from './session-timer.ts';
import { parseSipUri } from './sip-uri.ts';
import { type DialogHome, dialogOf, type SipDialog } from './sip-dialog.ts';
import type { Srf, SrfIncomingResponse, SrfRequest, SrfUacOptions } from './srf-types.ts';
import { requiresReliable } from './unsupported-request.ts';

export interface OutgoingInviteOptions {
  /** Request-URI: the registered contact, or the address of a gateway. */
  readonly uri: string;
  /** Next hop if it differs from the request-URI, e.g. the connection of a phone behind NAT. */
  readonly nextHop?: string;
  /** Value of Route: the proxies on the way. */
  readonly route?: string;
  /** Name of the SIP server to use; absent or not connected: any. */
  readonly via?: string | undefined;
  readonly callId: string;
  /** name-addr of From and To, without tags. */
  readonly from: string;
  readonly to: string;
  readonly sdp: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of the calling conference room, if any. */
  readonly room?: string;
  /** Credentials for a challenge (401, 407). */
  readonly credentials?: SipCredentials;
  /** Requested session interval, seconds (RFC 4028). */
  readonly sessionExpires?: number;
  /** Longest ringing in milliseconds; the phone stops by itself a little later, even if this node fails. */
  readonly ringMs?: number;
  /** Called for a provisional answer other than 100, with its session description if present. */
  readonly onProvisional: (answer: SipAnswer, sdp: string | undefined) => void;
}

export type OutgoingInviteResult =
  | {
      readonly answered: true;
      readonly dialog: SipDialog;
      readonly sdp: string;
      readonly answer: SipAnswer;
      /** The device's Allow-Events, lower case. */
      readonly allowEvents: readonly string[];
    }
  | {
      readonly answered: false;
      readonly answer: SipAnswer;
      readonly contacts: readonly string[];
      readonly demands?: InviteDemands;
    };

/** What a called side demanded of the INVITE before ringing. */
interface InviteDemands {
  /** 422: a session interval of at least so many seconds (RFC 4028 section 7.4). */
  readonly minSE?: number;
  /** 421: reliable provisional answers (RFC 3262). Phones that do not demand them are spared the PRACKs. */
  readonly reliable?: true;
}

/** Seconds by which the phone's own end of ringing follows our CANCEL. */
const EXPIRES_LATER = 5;

/** Status of a lost connection from SIP servers: usually 503, from drachtio-server 410. */
const UNREACHED = new Set([503, 410]);

interface SipFailure {
  status?: number;
  reason?: string;
  res?: SrfIncomingResponse;
}

/**
 * An INVITE to one contact (RFC 3261 section 13.2). `result` never rejects. A 2xx that crosses our CANCEL is ended with
 * BYE and reported as 487 (RFC 3261 section 15).
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
  #cancelHeaders: Readonly<Record<string, string>> = {};
  #settled = false;
  readonly #lost = Promise.withResolvers<OutgoingInviteResult>();

  /**
   * @param home the SIP server that sends it
   * @param journal stores it until its final answer
   */
  constructor(srf: Srf, options: OutgoingInviteOptions, home?: DialogHome, journal?: RingingJournal) {
    this.#home = home;
    this.#journal = journal;
    this.callId = options.callId;
    this.#srf = srf;
    this.#early = new EarlyDialog();
    this.result = traced(
      'INVITE',
      'client',
      () => ({ 'sip.call_id': options.callId, 'sip.uri': options.uri }),
      async (span) => {
        const result = await Promise.race([this.#send(options), this.#lost.promise]);
        span?.set({ 'sip.status': result.answer.status });
        return result;
      },
    );
  }

  /**
   * Sends CANCEL as soon as the SIP server has the INVITE. Idempotent.
   * @param reason value of its Reason (RFC 3326)
   */
  cancel(reason?: string): void {
    if (this.#cancelled || this.#settled) return;
    this.#cancelled = true;
    if (reason !== undefined) this.#cancelHeaders = { Reason: reason };
    this.#request?.cancel({ headers: this.#cancelHeaders });
  }

  /**
   * The connection to the SIP server is lost: no answer can come any more. The journal keeps the INVITE, so that the phone is
   * cancelled once the server is back.
   */
  lost(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#cancelled = true;
    this.#noted = undefined;
    this.#lost.resolve({ answered: false, answer: answer(500, 'SIP Server Lost', true), contacts: [] });
  }

  /** The device's Allow-Events so far, lower case. */
  get allowEvents(): readonly string[] {
    return this.#early.allowEvents;
  }

  /** Early dialogs with ringing devices (RFC 3261 section 12.1). */
  get tags(): readonly DialogTags[] {
    return this.#early.tags;
  }

  /**
   * Sends a NOTIFY to the ringing device, e.g. event `talk` to make it answer. False before it rings and after its
   * final answer.
   */
  notify(event: string, failed: (err: unknown) => void): boolean {
    if (this.#settled || this.#cancelled) return false;
    return this.#early.notify(this.#srf, event, failed);
  }

  async #send(options: OutgoingInviteOptions): Promise<OutgoingInviteResult> {
    const result = await this.#attempt(options, options.nextHop);
    const { answered, answer: final } = result;
    // The phone's connection is gone, so the request reached nobody: try the contact itself.
    const unreached = !answered && final.local && UNREACHED.has(final.status) && hasAddress(options);
    const last = unreached && !this.#cancelled ? await this.#attempt(options, undefined) : result;
    this.#settled = true;
    return last;
  }

  /** Meets each kind of demand once. */
  async #attempt(options: OutgoingInviteOptions, nextHop: string | undefined): Promise<OutgoingInviteResult> {
    let met: InviteDemands = {};
    for (;;) {
      const result = await this.#once(options, nextHop, met);
      if (result.answered || result.demands === undefined || this.#cancelled) return result;
      if (Object.keys(result.demands).every((demand) => demand in met)) return result;
      met = { ...met, ...result.demands };
    }
  }

  async #once(
    options: OutgoingInviteOptions,
    nextHop: string | undefined,
    demands: InviteDemands,
  ): Promise<OutgoingInviteResult> {
    try {
      const { uri } = options;
      const progress = {
        cbRequest: (err: unknown, req: SrfRequest) => {
          if (err !== null && err !== undefined) return;
          this.#request = req;
          this.#note(req, uri, nextHop);
          // Repeated with credentials: a transaction of its own.
          req.on('authenticate', (again: SrfRequest) => this.#note(again, uri, nextHop));
          if (this.#cancelled) req.cancel({ headers: this.#cancelHeaders });
        },
        cbProvisional: (res: SrfIncomingResponse) => {
          this.#early.learn(res, nextHop);
          if (res.status > 100) options.onProvisional(fromResponse(res, uri), res.body === '' ? undefined : res.body);
        },
      };
      const { sessionExpires } = options;
      const sip = await dialogOf(
        (done) => this.#srf.createUAC(uri, uacOptions(options, nextHop, demands), progress, done),
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
      return failure(error as SipFailure, nextHop ?? options.uri, this.#cancelled);
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

/** Whether the contact itself may lead to the phone: not behind a proxy, and not that of a browser (RFC 7118). */
function hasAddress({ uri, nextHop, route }: OutgoingInviteOptions): boolean {
  if (nextHop === undefined || route !== undefined) return false;
  return !/^wss?$/i.test(parseSipUri(uri)?.params['transport'] ?? '');
}

function uacOptions(
  { uri, route, headers, room, callId, from, to, sdp, credentials, sessionExpires, ringMs }: OutgoingInviteOptions,
  nextHop: string | undefined,
  { minSE, reliable }: InviteDemands,
): SrfUacOptions {
  const timer = new SessionTimerHeaders(sessionExpires).offer(minSE);
  const hop = parseSipUri(nextHop ?? uri);
  const protocol = (hop?.params['transport'] ?? (hop?.scheme === 'sips' ? 'tls' : 'udp')).toLowerCase();
  const focus = room === undefined ? {} : focusContact(room, protocol);
  // RFC 3261 section 13.3.1.
  const expires = ringMs === undefined ? {} : { Expires: String(Math.ceil(ringMs / 1000) + EXPIRES_LATER) };
  const routed = route === undefined ? {} : { Route: route };
  return {
    headers: {
      ...routed,
      ...timer,
      ...(reliable === true ? { Supported: `${timer['Supported']}, 100rel` } : {}),
      ...ownContact(protocol, uri),
      ...focus,
      ...expires,
      ...headers,
      'Call-ID': callId,
      From: from,
      To: to,
      Allow: ALLOW,
    },
    localSdp: sdp,
    // With Route too: drachtio-server drops that header, and is led to the proxy by this alone.
    ...(nextHop === undefined ? {} : { proxy: nextHop }),
    ...(credentials === undefined ? {} : { auth: { ...credentials } }),
  };
}

function failure(error: SipFailure, uri: string, cancelled: boolean): OutgoingInviteResult {
  if (error.res !== undefined) {
    const redirect = error.res.status >= 300 && error.res.status < 400 ? error.res.get('Contact') : undefined;
    const demands = demandsOf(error.res);
    return {
      answered: false,
      answer: fromResponse(error.res, uri),
      ...(demands === undefined ? {} : { demands }),
      contacts: redirect === undefined ? [] : listValues(redirect).map((contact) => contact.trim()),
    };
  }
  // The SIP server refused the request itself (no route, bad URI): nothing rang.
  return { answered: false, answer: answer(cancelled ? 487 : 503, undefined, true), contacts: [] };
}

function demandsOf(res: SrfIncomingResponse): InviteDemands | undefined {
  const minSE = res.status === 422 ? wantedInterval(res) : undefined;
  if (minSE !== undefined) return { minSE };
  return res.status === 421 && requiresReliable(res) ? { reliable: true } : undefined;
}

/** An answer without a source address comes from the SIP server: timeout, refused connection, DNS error. */
function fromResponse(res: SrfIncomingResponse, uri: string): SipAnswer {
  const said = answerOf(res, uri);
  const retryAfter = res.status === 503 ? Number.parseInt(res.get('Retry-After') ?? '', 10) : Number.NaN;
  return retryAfter > 0 ? { ...said, retryAfter } : said;
}
