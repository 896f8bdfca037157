import SrfClass from 'drachtio-srf';
import { ALLOW, IncomingInvite } from './incoming-invite.ts';
import { OutgoingInvite, type OutgoingInviteOptions } from './outgoing-invite.ts';
import { Registration, type RegistrationOptions } from './registration.ts';
import type { RingingJournal } from './ringing-journal.ts';
import { DEFAULT_SESSION_EXPIRES, refusedInterval } from './session-timer.ts';
import { takeUnheededHangups } from './unheeded-hangups.ts';
import type { Srf, SrfRequest, SrfResponse } from './srf-types.ts';

/** Address and secret of a drachtio-server's app port. */
export interface SipServerAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
}

export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface SipHandlers {
  /** A new call. Every promise it starts is its own to watch. */
  invite(invite: IncomingInvite): void;
  register(req: SrfRequest, res: SrfResponse): void;
}

/** The SIP server could not be reached or did not accept the secret. */
export class SipLinkError extends Error {
  override readonly name = 'SipLinkError';
}

export interface SipLinkOptions {
  /** How long to wait for an accepted connection, ms. */
  readonly timeoutMs?: number;
  /** Session interval to ask phones for, seconds (RFC 4028). */
  readonly sessionExpires?: number;
  /** Where ringing phones are noted; those of an earlier process are called off. */
  readonly journal?: RingingJournal;
}

/** The connection to a drachtio-server: requests from outside come in, calls go out. */
export class SipLink {
  readonly #srf: Srf;
  readonly #log: Log;
  readonly #sessionExpires: number;
  readonly #journal: RingingJournal | undefined;
  #connected = false;
  #closing = false;

  private constructor(srf: Srf, log: Log, sessionExpires: number, journal: RingingJournal | undefined) {
    this.#journal = journal;
    this.#srf = srf;
    takeUnheededHangups(srf);
    this.#sessionExpires = sessionExpires;
    this.#log = log;
  }

  /**
   * Connects and waits until the server has accepted the secret; afterwards a lost connection is taken up again.
   * @throws SipLinkError after `timeoutMs` without an accepted connection
   */
  static async connect(
    address: SipServerAddress,
    handlers: SipHandlers,
    log: Log,
    { timeoutMs = 5000, sessionExpires = DEFAULT_SESSION_EXPIRES, journal }: SipLinkOptions = {},
  ): Promise<SipLink> {
    const srf = new (SrfClass as unknown as new () => Srf)();
    const link = new SipLink(srf, log, sessionExpires, journal);
    link.#route(handlers);
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new SipLinkError(`the SIP server at ${address.host}:${address.port} did not answer in ${timeoutMs} ms`));
      }, timeoutMs);
      srf.on('connect', (err: Error | null) => {
        clearTimeout(timer);
        if (err === null || err === undefined) {
          link.#connected = true;
          resolve();
        } else {
          reject(
            new SipLinkError(`the SIP server at ${address.host}:${address.port} refused the secret`, { cause: err }),
          );
        }
      });
    });
    srf.on('disconnect', () => {
      link.#connected = false;
      if (!link.#closing) log.warn({ address: `${address.host}:${address.port}` }, 'connection to the SIP server lost');
    });
    srf.on('error', (err: Error) => {
      link.#connected = false;
      if (!link.#closing) log.error({ err }, 'SIP server connection');
    });
    srf.connect(address);
    try {
      await ready;
    } catch (error) {
      link.close();
      throw error;
    }
    link.#callOffLeftBehind();
    return link;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** drachtio-fsmrf needs the application object of drachtio-srf itself; nobody else may ask for it. */
  get srfForMedia(): object {
    return this.#srf;
  }

  invite(options: OutgoingInviteOptions): OutgoingInvite {
    return new OutgoingInvite(this.#srf, { sessionExpires: this.#sessionExpires, ...options }, this.#journal);
  }

  /** A registration of ours at somebody else's registrar; nothing is sent yet. */
  registration(options: RegistrationOptions): Registration {
    return new Registration(this.#srf, options);
  }

  close(): void {
    this.#closing = true;
    this.#connected = false;
    this.#srf.disconnect();
  }

  /** Phones that an earlier process of this node left ringing: the SIP server may still know the transaction, or not. */
  #callOffLeftBehind(): void {
    for (const { transaction, uri, nextHop, via, from, to, callId, cseq } of this.#journal?.ringing ?? []) {
      this.#log.warn({ callId, uri }, 'a phone was left ringing: it is called off');
      const headers = { From: from, To: to, 'Call-ID': callId, CSeq: `${cseq} CANCEL`, ...(via ? { Via: via } : {}) };
      const proxy = nextHop === undefined ? {} : { proxy: nextHop };
      this.#srf.request(uri, { method: 'CANCEL', stackTxnId: transaction, headers, ...proxy }, (err) => {
        this.#journal?.settled(transaction);
        if (err !== null && err !== undefined) this.#endLeftBehind(uri, callId, from);
      });
    }
  }

  /** It cannot be cancelled any more: a SIP server that lived on has a dialog with the phone, if that was answered. */
  #endLeftBehind(uri: string, callId: string, from: string): void {
    const [, tag] = /;tag=([^;]+)/.exec(from) ?? [];
    const stackDialogId = `${callId};from-tag=${tag ?? ''}`;
    for (const method of ['ACK', 'BYE']) {
      this.#srf.request(uri, { method, stackDialogId, headers: {} }, (err) => {
        if (method === 'BYE' && err !== null && err !== undefined)
          this.#log.warn({ callId, err }, 'a phone that was left ringing could not be called off');
      });
    }
  }

  #route(handlers: SipHandlers): void {
    const srf = this.#srf;
    const guarded = (name: string, handler: (req: SrfRequest, res: SrfResponse) => void) => {
      srf.use(name, (req, res) => {
        try {
          handler(req, res);
        } catch (err) {
          this.#log.error({ err, method: req.method, callId: req.get('Call-ID') }, 'request failed');
          if (!res.finalResponseSent) res.send(500);
        }
      });
    };
    guarded('invite', (req, res) => {
      const minSE = refusedInterval(req);
      if (minSE !== undefined) res.send(422, { headers: { 'Min-SE': minSE } });
      else handlers.invite(new IncomingInvite(srf, req, res, this.#sessionExpires));
    });
    guarded('register', (req, res) => handlers.register(req, res));
    // Phones ask with OPTIONS whether the server lives (RFC 3261 section 11).
    guarded('options', (_req, res) => res.send(200, { headers: { Allow: ALLOW, Accept: 'application/sdp' } }));
    guarded('subscribe', (_req, res) => res.send(489, { headers: { 'Allow-Events': 'refer' } }));
    for (const method of ['message', 'publish', 'refer', 'info', 'notify', 'update']) {
      guarded(method, (_req, res) => res.send(405, { headers: { Allow: ALLOW } }));
    }
  }
}
