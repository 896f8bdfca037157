/** The proxy: forwards requests for applications. */
import {
  type Destination,
  destinationOf,
  headerRank,
  isNumeric,
  parseNameAddr,
  SipParseError,
  SipRequest,
  type ServerTransaction,
  SipTransportError,
  type Source,
  type Timer,
  type TransportName,
} from '../stack/index.ts';
import { parseAppMessage, type ProxyCommand } from './app-command.ts';
import type { AppConnection } from './app-connection.ts';
import type { Core } from './core.ts';
import { metaOf, nokFields, okFields, proxiedFields } from './frame-fields.ts';
import { copyHeaders, type OwnAddress, ownUri } from './message-building.ts';
import { nextHop, ProxySession } from './proxy-session.ts';

/** How long a proxied call without a BYE is remembered, ms. */
const CALL_LIFETIME = 12 * 3600_000;

/** Forwards requests for applications (`proxy`), and later requests of the dialogs that these began. */
export class ProxyCore {
  readonly #core: Core;
  /** Record-routed calls, by Call-ID. Other requests are not forwarded, or the server would be an open relay. */
  readonly #calls = new Map<string, Timer>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** Number of record-routed calls that have not ended. */
  get calls(): number {
    return this.#calls.size;
  }

  /** Executes the command `proxy`: answers `...|continue` for each final response if asked to, then `OK|done`. */
  proxy(app: AppConnection, command: ProxyCommand): void {
    const record = this.#core.incoming.get(command.transactionId);
    if (record === undefined || !record.transaction.open || command.destinations.length === 0) {
      const reason = record === undefined ? 'unknown transaction' : 'no destination';
      app.send(nokFields(command.id, `Request not proxied due to ${reason}`));
      return;
    }
    let given: SipRequest;
    try {
      given = requestOf(command);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      app.send(nokFields(command.id, error.message));
      return;
    }
    const { transaction } = record;
    // The responses now come from the destinations, so the application may no longer answer.
    this.#core.incoming.forwarded(record);
    if (Number(transaction.request.header('max-forwards') ?? 70) <= 0) {
      transaction.reply(483);
      app.send(okFields(command.id, 'done'));
      return;
    }
    if (command.recordRoute) this.#remember(transaction.request.callId);
    const session = new ProxySession(
      this.#core,
      transaction,
      { ...command, build: (uri) => this.#build(transaction, uri, command.recordRoute, given) },
      {
        final: (response) => {
          if (!command.fullResponse || response.source === undefined) return;
          app.send(proxiedFields(command.id, metaOf(response, response.source)), response.head(), response.body);
        },
        done: () => app.send(okFields(command.id, 'done')),
      },
    );
    session.start();
  }

  /**
   * Forwards a request of a record-routed call.
   * @returns false when the request belongs to no such call.
   */
  forward(transaction: ServerTransaction): boolean {
    const { request } = transaction;
    if (!this.#isProxied(request)) return false;
    const build = (uri: string): SipRequest => this.#build(transaction, uri, false, undefined);
    const plan = {
      simultaneous: false,
      followRedirects: false,
      provisionalTimeout: undefined,
      finalTimeout: undefined,
      destinations: [request.uri],
      build,
    };
    const ended = request.method === 'BYE';
    new ProxySession(this.#core, transaction, plan, {
      final: () => undefined,
      done: () => {
        if (ended) this.#forget(request.callId);
      },
    }).start();
    return true;
  }

  /** Forwards the ACK of a 2xx, which belongs to no transaction (RFC 3261 section 16.11). */
  forwardAck(ack: SipRequest): void {
    if (!this.#isProxied(ack)) return;
    const copy = this.#copy(ack, ack.uri);
    try {
      this.#core.endpoint.send(copy, nextHop(copy));
    } catch (error) {
      // The ACK cannot be sent; the callee ends the call when it gets none.
      if (!(error instanceof SipParseError) && !(error instanceof SipTransportError)) throw error;
    }
  }

  /** Whether the request belongs to a record-routed call, and its topmost Route is this server. */
  #isProxied(request: SipRequest): boolean {
    const route = request.values('route')[0];
    return route !== undefined && this.#calls.has(request.callId) && this.#isOwn(route);
  }

  #isOwn(route: string): boolean {
    try {
      const destination = destinationOf(parseNameAddr(route, 'Route').uri);
      const own = this.#core.endpoint.addressFor(destination);
      return own.host === destination.host && own.port === destination.port;
    } catch (error) {
      if (error instanceof SipParseError || error instanceof SipTransportError) return false;
      throw error;
    }
  }

  #build(transaction: ServerTransaction, uri: string, recordRoute: boolean, given: SipRequest | undefined): SipRequest {
    const target = uri.includes(':') && /^(sips?|tel):/i.test(uri) ? uri : `sip:${uri}`;
    const request = this.#copy(transaction.request, target);
    if (given !== undefined) {
      const extra = new SipRequest(given.method, given.uri);
      copyHeaders(given, extra, ['max-forwards', 'route', 'record-route', 'contact']);
      for (const { name, value } of extra.headers) request.set(name, value);
    }
    if (given === undefined) return request;
    if (recordRoute) {
      for (const own of this.#recordRoutes(transaction.source, nextHop(request)))
        request.prepend('Record-Route', `<${ownUri(own)};lr>`);
    }
    request.headers.sort((a, b) => headerRank(a.key) - headerRank(b.key));
    return request;
  }

  /**
   * The addresses of this server for Record-Route, the one for the caller first. With UDP and TCP on both sides one is
   * enough; with any other transport on one side, or another address,
   * each gets its own (RFC 5658).
   */
  #recordRoutes(source: Source, next: Destination): OwnAddress[] {
    const { endpoint } = this.#core;
    const own = endpoint.addressFor(isNumeric(next) ? next : { ...next, host: source.address });
    const towardsCaller = endpoint.addressFor({ transport: source.transport, host: source.address, port: source.port });
    const isOneHost = own.host === towardsCaller.host;
    if (isOneHost && isPlain(own.transport) && isPlain(source.transport)) return [towardsCaller];
    return isOneHost && own.transport === towardsCaller.transport ? [own] : [towardsCaller, own];
  }

  /** A copy to forward: Max-Forwards is one less, and this server's Routes are removed. */
  #copy(request: SipRequest, uri: string): SipRequest {
    const copy = new SipRequest(request.method, uri);
    copy.headers.push(...request.headers);
    copy.body = request.body;
    const hops = Number(request.header('max-forwards') ?? 71);
    copy.set('Max-Forwards', String(Math.max(0, Number.isInteger(hops) ? hops - 1 : 69)));
    for (
      let route = copy.values('route')[0];
      route !== undefined && this.#isOwn(route);
      route = copy.values('route')[0]
    )
      copy.shift('Route');
    return copy;
  }

  #remember(callId: string): void {
    this.#calls.get(callId)?.cancel();
    this.#calls.set(
      callId,
      this.#core.endpoint.timers.set(CALL_LIFETIME, () => this.#calls.delete(callId)),
    );
  }

  #forget(callId: string): void {
    this.#calls.get(callId)?.cancel();
    this.#calls.delete(callId);
  }
}

function isPlain(transport: TransportName): boolean {
  return transport === 'udp' || transport === 'tcp';
}

function requestOf(command: ProxyCommand): SipRequest {
  const message = parseAppMessage(command.text);
  if (message.kind === 'request') return message;
  throw new SipParseError('start-line', message.startLine(), 'a request');
}
