/** Forwarding of one request by the proxy. */
import {
  type ClientTransaction,
  type Destination,
  destinationOf,
  parseNameAddr,
  SipParseError,
  type SipRequest,
  type ServerTransaction,
  SipResponse,
  SipTransportError,
  splitOutside,
  type Timer,
} from '../stack/index.ts';
import type { Core } from './core.ts';

/** How to forward a request. Times in ms. */
export interface ProxyPlan {
  readonly simultaneous: boolean;
  readonly followRedirects: boolean;
  readonly provisionalTimeout: number | undefined;
  readonly finalTimeout: number | undefined;
  /** Request-URIs, in order of preference. */
  readonly destinations: readonly string[];
  /** Builds the request for one destination, without the Via that sending adds. */
  build(uri: string): SipRequest;
}

export interface ProxyEvents {
  /** A branch got its final response. */
  final(response: SipResponse): void;
  /** The final response has been sent upstream. */
  done(): void;
}

/** Highest number of branches; further redirections are not followed. */
const MAX_BRANCHES = 64;

interface Branch {
  transaction: ClientTransaction | undefined;
  timer: Timer | undefined;
  open: boolean;
}

/** Forwarding of one request and its responses by a stateful proxy (RFC 3261 section 16). */
export class ProxySession {
  readonly #core: Core;
  readonly #upstream: ServerTransaction;
  readonly #plan: ProxyPlan;
  readonly #events: ProxyEvents;
  readonly #waiting: string[];
  readonly #branches: Branch[] = [];
  #best: SipResponse | undefined;
  #state: 'forwarding' | 'cancelled' | 'answered' = 'forwarding';

  constructor(core: Core, upstream: ServerTransaction, plan: ProxyPlan, events: ProxyEvents) {
    this.#core = core;
    this.#upstream = upstream;
    this.#plan = plan;
    this.#events = events;
    this.#waiting = [...plan.destinations];
    // Set for every method: it also stops the stack from repeating a 2xx, which only the callee may repeat.
    upstream.onCancel = () => this.#cancel();
  }

  start(): void {
    do this.#next();
    while (this.#plan.simultaneous && this.#waiting.length > 0);
    this.#settle();
  }

  #next(): void {
    const uri = this.#waiting.shift();
    if (uri === undefined) return;
    const branch: Branch = { transaction: undefined, timer: undefined, open: true };
    this.#branches.push(branch);
    try {
      const request = this.#plan.build(uri);
      branch.transaction = this.#core.endpoint.request(request, nextHop(request), {
        everySuccess: true,
        response: (response) => this.#response(branch, response),
        failed: (error) => this.#failed(branch, error),
      });
    } catch (error) {
      if (!(error instanceof SipParseError) && !(error instanceof SipTransportError)) throw error;
      branch.open = false;
      this.#keepBest(this.#upstream.createResponse(error instanceof SipParseError ? 400 : 416));
      return;
    }
    this.#limit(branch, this.#plan.provisionalTimeout ?? this.#plan.finalTimeout);
  }

  #limit(branch: Branch, time: number | undefined): void {
    branch.timer?.cancel();
    branch.timer = undefined;
    if (time === undefined) return;
    branch.timer = this.#core.endpoint.timers.set(time, () => {
      branch.timer = undefined;
      branch.transaction?.cancel();
      this.#close(branch, this.#upstream.createResponse(408));
    });
  }

  #response(branch: Branch, response: SipResponse): void {
    const { status } = response;
    if (status < 200) {
      if (branch.timer !== undefined) this.#limit(branch, this.#plan.finalTimeout);
      // A 100 stays on its hop (section 16.7 step 4).
      if (status > 100 && branch.open) this.#forward(response);
      return;
    }
    if (status < 300) {
      this.#success(branch, response);
      return;
    }
    if (!branch.open) return;
    this.#events.final(response);
    if (status < 400 && this.#plan.followRedirects && this.#state === 'forwarding') this.#redirect(response);
    if (status >= 600) this.#cancelOthers(branch);
    this.#close(branch, response);
  }

  /** Forwards every 2xx at once (section 16.7 step 5). The first one ends the search. */
  #success(branch: Branch, response: SipResponse): void {
    this.#forward(response);
    if (this.#state === 'answered') return;
    this.#state = 'answered';
    this.#waiting.length = 0;
    this.#limit(branch, undefined);
    branch.open = false;
    this.#events.final(response);
    this.#cancelOthers(branch);
    this.#events.done();
  }

  #redirect(response: SipResponse): void {
    for (const contact of response.values('contact')) {
      if (this.#branches.length + this.#waiting.length >= MAX_BRANCHES) return;
      try {
        this.#waiting.unshift(parseNameAddr(contact, 'Contact').uri);
      } catch (error) {
        // An unreadable Contact is skipped; the others are tried.
        if (!(error instanceof SipParseError)) throw error;
      }
    }
  }

  #failed(branch: Branch, error: SipTransportError): void {
    if (branch.open) this.#close(branch, this.#upstream.createResponse(error.reason === 'timeout' ? 408 : 503));
  }

  /** Closes a branch with its final response, or with one made up for a branch that gets none. */
  #close(branch: Branch, response: SipResponse): void {
    if (!branch.open) return;
    branch.open = false;
    this.#limit(branch, undefined);
    this.#keepBest(response);
    if (this.#state === 'forwarding' && !this.#plan.simultaneous) this.#next();
    else if (this.#state === 'forwarding') while (this.#waiting.length > 0) this.#next();
    this.#settle();
  }

  /** Sends the best response upstream once no branch is open (section 16.7 step 6). */
  #settle(): void {
    if (this.#state === 'answered' || this.#branches.some(({ open }) => open)) return;
    if (this.#state === 'forwarding' && this.#waiting.length > 0) {
      this.#next();
      this.#settle();
      return;
    }
    const best = this.#best ?? this.#upstream.createResponse(this.#state === 'cancelled' ? 487 : 480);
    this.#state = 'answered';
    if (best.source !== undefined) this.#forward(best);
    else this.#upstream.send(best);
    this.#events.done();
  }

  #keepBest(response: SipResponse): void {
    if (this.#best === undefined || rank(response.status) < rank(this.#best.status)) this.#best = response;
  }

  #cancel(): void {
    if (this.#state !== 'forwarding') return;
    this.#state = 'cancelled';
    this.#waiting.length = 0;
    this.#cancelOthers(undefined);
  }

  #cancelOthers(except: Branch | undefined): void {
    this.#waiting.length = 0;
    for (const branch of this.#branches) if (branch !== except && branch.open) branch.transaction?.cancel();
  }

  /** Sends a response upstream, without this proxy's Via. */
  #forward(response: SipResponse): void {
    const copy = new SipResponse(response.status, response.reason);
    copy.headers.push(...response.headers);
    copy.body = response.body;
    copy.shift('Via');
    this.#upstream.send(copy);
  }
}

/**
 * Lower is better: first 6xx, then the lowest class; within 4xx those that a caller can act on (section 16.7 step 6).
 */
function rank(status: number): number {
  if (status >= 600) return 0;
  if (status === 401 || status === 407 || status === 415 || status === 420 || status === 484) return 350;
  // A 503 concerns one destination only.
  return status === 503 ? 599 : status;
}

/** The destination of a request: its topmost Route, or else the request-URI (section 16.6 step 6). */
export function nextHop(request: SipRequest): Destination {
  const route = splitOutside(request.header('route') ?? '', ',')[0];
  return destinationOf(route === undefined ? request.uri : parseNameAddr(route, 'Route').uri);
}
