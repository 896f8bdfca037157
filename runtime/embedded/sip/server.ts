/** The embedded SIP server. */
import { timingSafeEqual } from 'node:crypto';
import { createServer, isIPv6, type Server } from 'node:net';
import { ListenError } from '../listen-error.ts';
import {
  formatHostPort,
  isLoopback,
  type ListenAddress,
  type ListeningPoint,
  SipEndpoint,
  SipParseError,
  type Timers,
} from '../stack/index.ts';
import { type AppCommand, parseAppMessage, type SipCommand } from './app-command.ts';
import { AppConnection } from './app-connection.ts';
import { AppRegistry } from './app-registry.ts';
import { CdrSender } from './cdr.ts';
import type { Core } from './core.ts';
import { DialogStore } from './dialog-store.ts';
import { noFields, nokFields, okFields } from './frame-fields.ts';
import { CallGate } from './call-gate.ts';
import {
  type LostConnection,
  parseAddress,
  type SipServerChange,
  type SipServerOptions,
  type SipServerStats,
} from './options.ts';
import { ProxyCore } from './proxy-core.ts';
import { IncomingRequests } from './incoming-requests.ts';
import { type RefusedConnection, Refusals } from './refusals.ts';
import { SessionTimers } from './session-timers.ts';
import { UacCore } from './uac-core.ts';
import { UasCore } from './uas-core.ts';
import { UasResponses } from './uas-responses.ts';

/** How long dialogs wait for their application to reconnect, ms. */
const ORPHAN_LIFETIME = 600_000;

/** Highest number of application connections, unauthenticated ones included. */
const MAX_APPS = 1024;

/** Version sent to applications; drachtio-srf derives the server's features from the numbers. */
const VERSION = 'v0.9.10-ringmaster';

/** What a server reports of its connections. */
export interface SipServerReports {
  readonly refused?: (connection: RefusedConnection) => void;
  readonly lost?: (connection: LostConnection) => void;
}

/** The embedded SIP server, in the thread that calls {@link EmbeddedSipServer.open}. */
export class EmbeddedSipServer {
  readonly #options: SipServerOptions;
  readonly #core: Core;
  readonly #uas: UasCore;
  readonly #responses: UasResponses;
  readonly #uac: UacCore;
  readonly #proxy: ProxyCore;
  readonly #listener: Server;
  #closing = false;
  /** `transport/ip:port` of the listeners: as peers outside are told, and as bound. */
  #hostports = '';
  #localHostports = '';
  #appAddress = '';
  readonly #sipAddresses: string[] = [];
  /** Addresses of TLS and WebSockets, by role. */
  readonly #secureAddresses: Record<string, string> = {};

  private constructor(options: SipServerOptions, timers: Timers | undefined, { refused, lost }: SipServerReports) {
    this.#options = options;
    const apps = new AppRegistry();
    const refusals = new Refusals(refused ?? (() => undefined));
    const endpoint = new SipEndpoint({
      handler: {
        request: (transaction) => this.#uas.request(transaction),
        ack: (ack, source, invite) => this.#uas.ack(ack, source, invite),
        cancelled: (invite, cancel, source) => this.#uas.cancelled(invite, cancel, source),
        ackMissing: (invite) => this.#uas.ackMissing(invite),
        refused: (reason, source) => refusals.add(reason, source),
        lost: ({ transport, address, port }) => {
          if (!this.#closing) lost?.({ transport, address, port });
        },
      },
      ...(timers === undefined ? {} : { timers }),
      ...(options.timerValues === undefined ? {} : { timerValues: options.timerValues }),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.tcpLimits === undefined ? {} : { tcpLimits: options.tcpLimits }),
      ...(options.publicAddresses === undefined ? {} : { publicAddresses: options.publicAddresses }),
      ...(options.trust === undefined ? {} : { trust: options.trust }),
    });
    this.#core = {
      endpoint,
      apps,
      gate: options.gate && new CallGate(options.gate),
      dialogs: new DialogStore(),
      cdr: new CdrSender(apps, options.cdrs ?? true),
      incoming: new IncomingRequests(),
      sessions: new SessionTimers(endpoint.timers, {
        refresh: (dialog, seconds) => this.#uac.refresh(dialog, seconds),
        expired: (dialog) => this.#uac.expire(dialog),
      }),
      outgoing: new Map(),
    };
    this.#uac = new UacCore(this.#core);
    this.#proxy = new ProxyCore(this.#core);
    this.#uas = new UasCore(this.#core, this.#uac, this.#proxy);
    this.#responses = new UasResponses(this.#core);
    this.#listener = createServer((socket) => {
      if (apps.size >= MAX_APPS) {
        socket.destroy();
        return;
      }
      const app = new AppConnection(
        socket,
        { command: (from, command) => this.#execute(from, command), closed: (gone) => this.#gone(gone) },
        options.authenticateWithin,
      );
      apps.add(app);
    });
  }

  /**
   * Opens every listener.
   * @param timers a source of time that a test drives by hand.
   * @param reports called for events of connections
   * @throws ListenError when an address is taken or not allowed. Listeners opened before are closed again.
   * @throws RangeError when an address is not `ip:port`.
   */
  static async open(
    options: SipServerOptions,
    timers?: Timers,
    reports: SipServerReports = {},
  ): Promise<EmbeddedSipServer> {
    const app = parseAddress(options.app, 'app');
    const sip = options.sip.map((address) => parseAddress(address, 'sip'));
    const server = new EmbeddedSipServer(options, timers, reports);
    try {
      for (const address of sip) {
        const point = await server.#core.endpoint.listen(address);
        server.#sipAddresses.push(formatHostPort(point.host, point.port));
      }
      await server.#listenSecure();
      const points = server.#core.endpoint.points.toReversed();
      server.#localHostports = hostportsOf(points);
      server.#hostports = hostportsOf(points.map((point) => ({ ...point, host: server.#shownHost(point.host) })));
      if (options.towardsMedia === true && sip.every(({ host }) => isIPv6(host)))
        await server.#core.endpoint.listen({ host: '127.0.0.1', port: 0 });
      server.#appAddress = await server.#listen(app.host, app.port);
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  /** Bound addresses: `app`, `sip`, `tls`, `ws`, `wss` (separated by commas if there are several), `forwarded`. */
  get addresses(): { readonly app: string; readonly sip: string; readonly [role: string]: string } {
    return { app: this.#appAddress, sip: this.#sipAddresses.join(','), ...this.#secureAddresses };
  }

  /** The address of a listener that peers outside are told. */
  #shownHost(host: string): string {
    if (isLoopback(host)) return host;
    return this.#options.publicAddresses?.find((address) => isIPv6(address) === isIPv6(host)) ?? host;
  }

  /** Applies a change without closing a connection. */
  reconfigure({ certificate, trust }: SipServerChange): void {
    if (certificate !== undefined) this.#core.endpoint.replaceCertificate(certificate);
    if (trust !== undefined) this.#core.endpoint.trust(trust);
  }

  get stats(): SipServerStats {
    const { endpoint, dialogs, apps, incoming, outgoing } = this.#core;
    const { clientTransactions, serverTransactions, pendingAcks, sockets, timers } = endpoint.stats;
    return {
      dialogs: dialogs.size,
      transactions: clientTransactions + serverTransactions,
      sockets,
      timers,
      apps: apps.size,
      pending: incoming.size + outgoing.size + pendingAcks,
    };
  }

  /** Closes at once: sends no BYE, and waits neither for subscriptions nor for applications that may reconnect. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => {
      if (this.#listener.listening) this.#listener.close(() => resolve());
      else resolve();
    });
    for (const app of this.#core.apps.all()) app.destroy();
    await this.#core.endpoint.close();
    await closed;
  }

  async #listenSecure(): Promise<void> {
    const { certificate, tls = [], ws = [], wss = [], origins = [], forwarded } = this.#options;
    const { endpoint } = this.#core;
    const open = async (
      role: string,
      addresses: readonly string[],
      listen: (address: ListenAddress) => Promise<ListeningPoint>,
    ): Promise<void> => {
      const bound: string[] = [];
      for (const address of addresses) {
        const { host, port } = await listen(parseAddress(address, role));
        bound.push(formatHostPort(host, port));
      }
      if (bound.length > 0) this.#secureAddresses[role] = bound.join(',');
    };
    if (certificate !== undefined) await open('tls', tls, (address) => endpoint.listenTls(address, certificate));
    await open('ws', ws, (address) => endpoint.listenWebSocket(address, { origins }));
    if (certificate !== undefined)
      await open('wss', wss, (address) => endpoint.listenWebSocket(address, { origins }, certificate));
    if (forwarded !== undefined)
      await open('forwarded', ['127.0.0.1:0'], (address) => endpoint.listenWebSocket(address, { forwarded }));
  }

  #listen(host: string, port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        reject(new ListenError(error.code ?? 'UNKNOWN', `tcp/${formatHostPort(host, port)}`, 'app protocol'));
      };
      this.#listener.once('error', failed);
      this.#listener.listen({ host, port }, () => {
        this.#listener.off('error', failed);
        // Errors such as EMFILE lose one connection; the server goes on.
        this.#listener.on('error', () => undefined);
        const address = this.#listener.address();
        resolve(formatHostPort(host, typeof address === 'object' && address !== null ? address.port : port));
      });
    });
  }

  #execute(app: AppConnection, command: AppCommand): void {
    if (!app.authenticated && command.type !== 'authenticate' && command.type !== 'ping') {
      this.#refuse(app, command.id, 'not authenticated');
      return;
    }
    switch (command.type) {
      case 'authenticate':
        if (!this.#isSecret(command.secret)) {
          this.#refuse(app, command.id, 'incorrect secret');
          return;
        }
        app.authenticated = true;
        app.tags = command.tags;
        app.send(okFields(command.id, this.#hostports, VERSION, this.#localHostports));
        break;
      case 'ping':
        app.send(okFields(command.id, 'pong'));
        break;
      case 'route':
        this.#core.apps.addRoute(app, command.verb);
        app.send(okFields(command.id));
        break;
      case 'remove_route':
        this.#core.apps.removeRoute(app, command.verb);
        app.send(okFields(command.id));
        break;
      case 'sip':
        this.#sip(app, command);
        break;
      case 'proxy':
        this.#proxy.proxy(app, command);
        break;
      case 'unknown':
        this.#refuse(app, command.id, 'Unknown message type');
        break;
    }
  }

  #sip(app: AppConnection, command: SipCommand): void {
    let message: ReturnType<typeof parseAppMessage>;
    try {
      message = parseAppMessage(command.text);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      app.send(nokFields(command.id, `invalid request-uri: ${command.text.toString('latin1')}`));
      return;
    }
    if (message.kind === 'request') this.#uac.send(app, command, message);
    else if (command.transactionId === '') this.#refuse(app, command.id, 'transaction id missing');
    else this.#responses.respond(app, command, message);
  }

  /** Answers a protocol error with its reason, and closes the connection. */
  #refuse(app: AppConnection, commandId: string, reason: string): void {
    app.send(noFields(commandId, reason));
    app.end();
  }

  #gone(app: AppConnection): void {
    this.#core.apps.remove(app);
    if (this.#closing) return;
    this.#uas.abandon(app);
    this.#uac.abandon(app);
    const orphans = [...this.#core.dialogs].filter((dialog) => dialog.app === app);
    if (orphans.length === 0) return;
    // A restarted application takes its dialogs over. If none connects in time, the calls are ended.
    this.#core.endpoint.timers.set(ORPHAN_LIFETIME, () => {
      for (const dialog of orphans) {
        const alive = this.#core.dialogs.byId(dialog.id, dialog.role) === dialog;
        if (alive && this.#core.apps.successor(dialog.app) === undefined) {
          this.#uac.terminate(dialog, 'SIP;cause=480;text="Application gone"');
        }
      }
    });
  }

  #isSecret(given: string): boolean {
    const expected = Buffer.from(this.#options.secret, 'utf8');
    const offered = Buffer.from(given, 'latin1');
    return offered.length === expected.length && timingSafeEqual(offered, expected);
  }
}

function hostportsOf(points: readonly ListeningPoint[]): string {
  return points.map(({ transport, host, port }) => `${transport}/${formatHostPort(host, port)}`).join(',');
}
