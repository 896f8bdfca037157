/** The connection to one SIP server. */
import SrfClass from 'drachtio-srf';
import { addressesOf, hostsOf, transportOf, webSocketOf } from './hostports.ts';
import { ALLOW, IncomingInvite, sourceOf } from './incoming-invite.ts';
import type { SipAnswer } from './answers.ts';
import { OutlivingDialogs } from './outliving-dialogs.ts';
import { OutgoingInvite, type OutgoingInviteOptions } from './outgoing-invite.ts';
import { type OutgoingOptionsOptions, sendOutgoingOptions } from './outgoing-options.ts';
import { type OutgoingMessageOptions, sendOutgoingMessage } from './outgoing-message.ts';
import { type NotifyResult, type OutgoingNotifyOptions, sendOutgoingNotify } from './outgoing-notify.ts';
import { closeConnection } from './close-connection.ts';
import { refuseLeftWaiting, type WaitingInvite } from './left-waiting.ts';
import { sinceReceived } from './received.ts';
import { readInTurns, writeInTurns } from './short-turns.ts';
import type { RingingInvite, RingingJournal } from './ringing-journal.ts';
import { DEFAULT_SESSION_EXPIRES, refusedInterval } from './session-timer.ts';
import { adoptDialog } from './adopted-dialog.ts';
import type { DialogHome, SipDialog, SipDialogPlace } from './sip-dialog.ts';
import { Turns } from './turns.ts';
import { unsupportedRequest } from './unsupported-request.ts';
import { describeByMedium } from './offerless-calls.ts';
import { handleFailedHangups } from './failed-hangups.ts';
import { type MessageTap, tapMessages } from './message-tap.ts';
import { readMessagesQuickly } from './quick-messages.ts';
import { routeUpdates } from './updates-beside-requests.ts';
import type { Srf, SrfRequest, SrfResponse } from './srf-types.ts';
import type { SipServerAddress } from './server-address.ts';

export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface SipHandlers {
  /**
   * A new call has come, also one that is refused before `invite`.
   * @param waitedMs milliseconds since the SIP server received it, if it has the clock of this node
   */
  came?(waitedMs: number): void;
  /** Handles a new call. The handler must catch its own rejections. */
  invite(invite: IncomingInvite): void;
  /** @param via name of the SIP server that received it */
  register(req: SrfRequest, res: SrfResponse, via: string): void;
  /** Answers OPTIONS: 200, or 503 with Retry-After. Absent: calls are accepted. */
  readonly acceptsCalls?: boolean;
  /** A MESSAGE outside any call (RFC 3428). */
  message(req: SrfRequest, res: SrfResponse): void;
  /** Absent: there is nothing to subscribe to. @param via name of the SIP server that received it */
  subscribe?(req: SrfRequest, res: SrfResponse, via: string): void;
  /** A PUBLISH (RFC 3903). Absent: the method is not allowed. */
  publish?(req: SrfRequest, res: SrfResponse): void;
}

/** The SIP server is unreachable or refused the secret. */
export class SipLinkError extends Error {
  override readonly name = 'SipLinkError';
}

/** The SIP server is reachable but refuses the secret: retrying does not help. */
export class SipSecretRefused extends SipLinkError {
  constructor(server: string) {
    super(
      `the SIP server at ${server} refused the secret; RINGMASTER_DRACHTIO must have the one of <admin> in its drachtio.conf.xml`,
    );
  }
}

export interface SipLinkOptions {
  /** How long to wait for an accepted connection, ms. */
  readonly timeoutMs?: number;
  /** Requested session interval, seconds (RFC 4028). */
  readonly sessionExpires?: number;
  /** Journal of ringing phones; those of an earlier process are cancelled. */
  readonly journal?: RingingJournal;
  /** Journal of unanswered calls; those of an earlier process are refused. */
  readonly waiting?: RingingJournal<WaitingInvite>;
  /** Receives every SIP message. */
  readonly tap?: MessageTap | undefined;
  /** True: other applications get the server's new requests, until `rests` is false. */
  readonly rests?: boolean;
  /** False: other applications always get the server's new INVITEs, and OPTIONS. */
  readonly takesCalls?: boolean;
}

/** Milliseconds between reconnection attempts. The library's default doubles them without limit. */
const RECONNECT_MS = 2000;

/** Milliseconds between two questions to a phone whose requests the SIP server may keep. */
const ASK_MS = 5000;

/** The connection to a drachtio-server for incoming and outgoing requests. */
export class SipLink implements DialogHome {
  /** `host:port` of the app port. */
  readonly name: string;
  readonly dialogs = new Set<SipDialog>();
  /** INVITEs without a final answer. */
  readonly #invites = new Set<OutgoingInvite>();
  readonly #srf: Srf;
  readonly #log: Log;
  readonly #sessionExpires: number;
  readonly #journal: RingingJournal | undefined;
  readonly #waiting: RingingJournal<WaitingInvite> | undefined;
  /** Entries of an earlier process, or of a lost connection. */
  readonly #leftWaiting: WaitingInvite[];
  /** True for a server of another site. */
  readonly isRemote: boolean;
  readonly #address: SipServerAddress;
  readonly #accepted = Promise.withResolvers<void>();
  readonly #refused = Promise.withResolvers<never>();
  readonly #turns: Turns;
  readonly #outliving: OutlivingDialogs;
  #hosts: ReadonlySet<string> = new Set();
  #hostports = '';
  #addresses: readonly string[] = [];
  #tlsAddresses: readonly string[] = [];
  #connected = false;
  #wasConnected = false;
  #closing = false;
  #problem: Error | undefined;

  private constructor(
    address: SipServerAddress,
    handlers: SipHandlers,
    log: Log,
    {
      sessionExpires = DEFAULT_SESSION_EXPIRES,
      journal,
      waiting,
      tap,
      rests = false,
      takesCalls = true,
    }: Omit<SipLinkOptions, 'timeoutMs'>,
  ) {
    this.#journal = journal;
    this.#waiting = waiting;
    this.#leftWaiting = [...(waiting?.ringing ?? [])];
    this.#address = address;
    this.name = `${address.host}:${address.port}`;
    this.isRemote = address.isRemote === true;
    readMessagesQuickly();
    this.#srf = new (SrfClass as unknown as new () => Srf)();
    describeByMedium(this.#srf);
    handleFailedHangups(this.#srf);
    this.#sessionExpires = sessionExpires;
    this.#log = log;
    // The promise may have no other handler.
    this.#refused.promise.catch(() => undefined);
    this.#route(handlers);
    this.#follow();
    this.#srf.connect({ ...address, reconnect: { retryMaxDelay: RECONNECT_MS } });
    routeUpdates(this.#srf);
    readInTurns(this.#srf);
    writeInTurns(this.#srf);
    this.#outliving = new OutlivingDialogs(this.#srf, () => this.#connected);
    this.#turns = new Turns(this.#srf, takesCalls);
    this.#turns.rests = rests;
    if (tap) tapMessages(this.#srf, tap, () => this.#hostports);
  }

  /** Starts connecting. Failed and lost connections are retried until `close`. */
  static open(
    address: SipServerAddress,
    handlers: SipHandlers,
    log: Log,
    options: Omit<SipLinkOptions, 'timeoutMs'> = {},
  ): SipLink {
    return new SipLink(address, handlers, log, options);
  }

  /**
   * Connects and waits until the server has accepted the secret; later losses are reconnected.
   * @throws SipLinkError after `timeoutMs` without an accepted connection
   */
  static async connect(
    address: SipServerAddress,
    handlers: SipHandlers,
    log: Log,
    { timeoutMs = 5000, ...options }: SipLinkOptions = {},
  ): Promise<SipLink> {
    const link = SipLink.open(address, handlers, log, options);
    try {
      await link.accepted(timeoutMs);
      link.cancelLeftRinging(() => true);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  /**
   * Settles when the server has accepted the secret.
   * @throws SipSecretRefused immediately after a refusal; SipLinkError after `timeoutMs`, with the latest problem
   */
  async accepted(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.#unaccepted(timeoutMs)), timeoutMs);
    });
    try {
      await Promise.race([this.#accepted.promise, this.#refused.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Settles when the server has first accepted the secret; never rejects. */
  get firstAccepted(): Promise<void> {
    return this.#accepted.promise;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** The server's listening addresses, without brackets. */
  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  /** `ip:port` of the server's UDP listeners. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** `ip:port` of the server's TLS listeners. */
  get tlsAddresses(): readonly string[] {
    return this.#tlsAddresses;
  }

  /** URLs of the server's listeners for WebSockets at this port. */
  webSocketUrls(port: number): readonly string[] {
    return (['ws', 'wss'] as const).flatMap((scheme) =>
      addressesOf(this.#hostports, scheme)
        .filter((address) => address.endsWith(`:${port}`))
        .map((address) => `${scheme}://${address}`),
    );
  }

  /** The server's listener for WebSockets, with or without TLS. */
  webSocket(secure: boolean): { host: string; port: number } | undefined {
    return webSocketOf(this.#hostports, secure);
  }

  /** True: other applications of the server get its new requests. Those within dialogs still come. */
  set rests(rests: boolean) {
    this.#turns.rests = rests;
  }

  /** The application object of drachtio-srf; only for drachtio-fsmrf. */
  get srfForMedia(): object {
    return this.#srf;
  }

  invite(options: OutgoingInviteOptions): OutgoingInvite {
    const { callId: callid, uri } = options;
    const timed = { sessionExpires: this.#sessionExpires, ...options };
    const invite = new OutgoingInvite(this.#srf, timed, this, this.#journal);
    this.#invites.add(invite);
    void invite.result.then(({ answer: { status, reason } }) => {
      this.#invites.delete(invite);
      this.#log.debug({ callid, uri, status, reason }, 'INVITE answered');
    });
    return invite;
  }

  /** Sends a MESSAGE outside any call. Never rejects. */
  message(options: OutgoingMessageOptions): Promise<SipAnswer> {
    return sendOutgoingMessage(this.#srf, options);
  }

  /** Sends a NOTIFY of a subscription. Never rejects. */
  notify(options: OutgoingNotifyOptions): Promise<NotifyResult> {
    return sendOutgoingNotify(this.#srf, options);
  }

  /** Sends OPTIONS outside any call. Never rejects. */
  options(options: OutgoingOptionsOptions): Promise<SipAnswer> {
    return sendOutgoingOptions(this.#srf, options);
  }

  /** The application object, for outgoing registrations. */
  get srf(): Srf {
    return this.#srf;
  }

  /**
   * Cancels phones and refuses callers that an earlier process of this node left, or a lost connection. The SIP server may or
   * may not still know the transactions.
   * @param mine true for phones called through the SIP server of this name
   */
  cancelLeftRinging(mine: (server: string | undefined) => boolean): void {
    const left = this.#journal?.ringing.filter(({ server }) => mine(server)) ?? [];
    const waiting = this.#leftWaiting.splice(0).filter(({ server }) => server === this.name);
    if (waiting.length > 0) void this.refuseWaiting(waiting);
    this.cancelRinging(left);
  }

  /** Cancels INVITEs that another application sent through this server; phones that have answered get BYE. */
  cancelRinging(left: readonly RingingInvite[]): void {
    for (const { transaction, uri, nextHop, via, from, to, callId, cseq } of left) {
      this.#log.warn({ callid: callId, uri }, 'cancelling a phone that was left ringing');
      const headers = { From: from, To: to, 'Call-ID': callId, CSeq: `${cseq} CANCEL`, ...(via ? { Via: via } : {}) };
      const proxy = nextHop === undefined ? {} : { proxy: nextHop };
      this.#srf.request(uri, { method: 'CANCEL', stackTxnId: transaction, headers, ...proxy }, (err) => {
        this.#journal?.settled(transaction);
        if (err !== null && err !== undefined) this.#endLeftAnswered(uri, callId, from);
      });
    }
  }

  /**
   * Refuses calls that an earlier process, or another node, left unanswered.
   * @param left those received by this server
   */
  async refuseWaiting(left: readonly WaitingInvite[]): Promise<void> {
    for (const { callId } of left) this.#log.warn({ callid: callId }, 'refusing a call that was left unanswered');
    try {
      await refuseLeftWaiting(this.#address, left);
    } catch (err) {
      this.#log.warn({ err }, 'calls that were left unanswered could not be refused');
    }
    for (const { transaction } of left) this.#waiting?.settled(transaction);
  }

  /**
   * Goes on with a dialog of another application at this server.
   * @param silence seconds without a request after which the phone is asked whether it is still there
   */
  adopt(place: SipDialogPlace, silence: number): SipDialog {
    return adoptDialog(this.#srf, place, { home: this, sessionExpires: 2 * silence });
  }

  close(): void {
    this.#closing = true;
    this.#connected = false;
    closeConnection(this.#srf);
  }

  /**
   * Sends ACK and BYE to a phone that can no longer be cancelled: it may have answered, and a SIP server that kept
   * running then has its dialog.
   */
  #endLeftAnswered(uri: string, callId: string, from: string): void {
    const [, tag] = /;tag=([^;]+)/.exec(from) ?? [];
    const stackDialogId = `${callId};from-tag=${tag ?? ''}`;
    for (const method of ['ACK', 'BYE']) {
      this.#srf.request(uri, { method, stackDialogId, headers: {} }, (err) => {
        if (method === 'BYE' && err !== null && err !== undefined)
          this.#log.warn({ callid: callId, err }, 'a phone that was left ringing could not be cancelled');
      });
    }
  }

  #follow(): void {
    const { name } = this;
    const srf = this.#srf;
    srf.on('connect', (err: Error | null, hostports?: string, _version?: string | null, local?: string | null) => {
      // Closed during the connection attempt.
      if (this.#closing) return closeConnection(srf);
      if (err === null || err === undefined) {
        this.#hosts = hostsOf(hostports, local);
        this.#hostports = local ?? hostports ?? '';
        this.#addresses = addressesOf(hostports, 'udp');
        this.#tlsAddresses = addressesOf(hostports, 'tls');
        this.#connected = true;
        this.#problem = undefined;
        const again = this.#wasConnected;
        this.#wasConnected = true;
        this.#accepted.resolve();
        this.#outliving.resume();
        this.#checkDialogs();
        // Phones whose INVITE was lost with the connection.
        if (again) this.cancelLeftRinging((server) => server === name);
        return;
      }
      this.#connected = false;
      const refusal = new SipSecretRefused(name);
      this.#refused.reject(refusal);
      this.#tell(refusal);
    });
    srf.on('disconnect', () => {
      if (this.#connected && !this.#closing) this.#log.warn({ address: name }, 'connection to the SIP server lost');
      this.#lost();
    });
    srf.on('error', (cause: Error) => {
      this.#lost();
      this.#tell(new SipLinkError(`the SIP server at ${name} cannot be reached: ${cause.message}`, { cause }));
    });
  }

  #lost(): void {
    // An answer of this node would go nowhere.
    if (this.#connected) this.#leftWaiting.push(...(this.#waiting?.ringing ?? []));
    this.#connected = false;
    for (const invite of this.#invites) invite.lost();
  }

  /**
   * After a lost connection: ends calls that ended meanwhile, or that a restarted server has lost. A drachtio-server that kept running
   * answers the requests of their phones itself from then on, so only asking shows that one has hung up.
   */
  #checkDialogs(): void {
    for (const dialog of this.dialogs) dialog.check(ASK_MS);
  }

  /** Logs each problem once. */
  #tell(problem: SipLinkError): void {
    const known = this.#problem?.message === problem.message;
    this.#problem = problem;
    if (!known && !this.#closing)
      this.#log.warn({ err: problem.message }, 'a SIP server cannot be used yet, trying again');
  }

  #unaccepted(timeoutMs: number): Error {
    return this.#problem ?? new SipLinkError(`the SIP server at ${this.name} did not answer in ${timeoutMs} ms`);
  }

  #route(handlers: SipHandlers): void {
    const srf = this.#srf;
    const guarded = (name: string, handler: (req: SrfRequest, res: SrfResponse) => void) => {
      srf.use(name, (req, res) => {
        if (name === 'invite') handlers.came?.(sinceReceived(req.stackTime));
        const { protocol, receivedOn } = req;
        Object.assign(req, { protocol: transportOf(protocol, receivedOn, req.get('Via') ?? '', this.#hostports) });
        try {
          const refusal = unsupportedRequest(req);
          if (refusal === undefined) handler(req, res);
          else res.send(refusal.status, { headers: refusal.headers });
        } catch (err) {
          this.#log.error({ err, method: req.method, callid: req.get('Call-ID') }, 'request failed');
          if (!res.finalResponseSent) res.send(500);
        }
      });
    };
    guarded('invite', (req, res) => {
      const minSE = refusedInterval(req);
      if (minSE !== undefined) res.send(422, { headers: { 'Min-SE': minSE } });
      else handlers.invite(new IncomingInvite(srf, req, res, this.#sessionExpires, this, this.#waiting));
      // Afterwards, so that the call is known. The Request-URI may have digits for after the answer.
      const { address, port, protocol } = sourceOf(req);
      this.#log.debug({ callid: req.get('Call-ID'), source: `${protocol}/${address}:${port}` }, 'INVITE received');
    });
    guarded('register', (req, res) => handlers.register(req, res, this.name));
    guarded('message', (req, res) => handlers.message(req, res));
    // Keep-alive of phones, and probes of carriers: the status is that of an INVITE (RFC 3261 section 11.2).
    guarded('options', (_req, res) => {
      if (handlers.acceptsCalls === false) res.send(503, { headers: { 'Retry-After': '30' } });
      else res.send(200, { headers: { Allow: ALLOW, Accept: 'application/sdp' } });
    });
    guarded('subscribe', (req, res) => {
      if (handlers.subscribe) handlers.subscribe(req, res, this.name);
      else res.send(489, { headers: { 'Allow-Events': 'refer' } });
    });
    // UPDATE on a ringing call: our offer is unanswered, so another offer is not permitted (RFC 3311 section 5.2).
    guarded('update', (req, res) => {
      if (req.body === '') res.send(200);
      else res.send(500, { headers: { 'Retry-After': '2' } });
    });
    guarded('publish', (req, res) => {
      if (handlers.publish) handlers.publish(req, res);
      else res.send(405, { headers: { Allow: ALLOW } });
    });
    // The dialog was another node's, or has just ended (RFC 3261 section 15.1.2).
    guarded('bye', (_req, res) => res.send(481));
    for (const method of ['refer', 'info', 'notify']) {
      guarded(method, (_req, res) => res.send(405, { headers: { Allow: ALLOW } }));
    }
  }
}
