/** Transports inspector protocol messages. */
import type ivm from 'isolated-vm';

/** First id of our own requests, above those of debuggers. */
const OWN_IDS = 2_000_000_000;
const NUDGE = OWN_IDS;
const LAST_ID = 2_147_483_647;

/** Milliseconds without an answer after which the isolate is woken. */
const PATIENCE_MS = 20;
/** Milliseconds after which a busy thread has handled an interrupt. */
const TURN_MS = 1000;

export interface WireListener {
  /** An event of the inspector protocol. */
  event(message: string): void;
  /** The answer to a request of the debugger. */
  answer(id: number, message: string): void;
}

/** A request of the inspector protocol from a debugger. */
export interface InspectorRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
}

/** Inspector domains that send messages without a request. */
const TALKATIVE = ['Runtime', 'Console', 'Profiler', 'HeapProfiler', 'Debugger'];

/** Transports the inspector protocol to an isolate and back, without losing messages. */
export class InspectorWire {
  readonly #isolate: ivm.Isolate;
  readonly #session: ivm.InspectorSession;
  /** Unanswered requests. */
  readonly #open = new Set<number>();
  /** Number of unanswered messages, including those sent only to wake. */
  #unanswered = 0;
  /** Resolved when all messages are answered. */
  #quiet: (() => void) | undefined;
  #lastOwnId = OWN_IDS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(isolate: ivm.Isolate, listener: WireListener) {
    this.#isolate = isolate;
    this.#session = isolate.createInspectorSession();
    this.#session.onNotification = (message) => listener.event(message);
    this.#session.onResponse = (id, message) => {
      this.#answered(id);
      if (id < OWN_IDS) listener.answer(id, message);
    };
  }

  /**
   * isolated-vm may miss a message that arrives just when a program pauses or has handled another. A further message
   * makes it check again, so one is sent until all are answered.
   */
  send(id: number, message: string): void {
    if (this.#closed) return;
    this.#open.add(id);
    this.#dispatch(message);
    this.#timer ??= setInterval(() => this.#dispatch(`{"id":${NUDGE},"method":"Schema.getDomains"}`), PATIENCE_MS);
  }

  /** Sends our own request without waiting for its answer. */
  request(method: string, params: object = {}): void {
    this.#lastOwnId = this.#lastOwnId === LAST_ID ? OWN_IDS + 1 : this.#lastOwnId + 1;
    this.send(this.#lastOwnId, JSON.stringify({ id: this.#lastOwnId, method, params }));
  }

  /**
   * Ends the session, before the isolate is disposed. isolated-vm crashes when a thread in the isolate writes to a
   * disposed session, and hangs when an isolate is disposed before its session. So the session is disposed once it is
   * idle; the thread finishes the disposal at its next opportunity, which the isolate's disposal has to await.
   * @returns resolves when that is done; never when the isolate does not answer or was disposed
   */
  async close(): Promise<void> {
    for (const domain of TALKATIVE) this.request(`${domain}.disable`);
    this.#closed = true;
    await new Promise<void>((resolve) => {
      this.#quiet = resolve;
    });
    if (this.#isolate.isDisposed) return;
    this.#session.dispose();
    await this.#threadTurns();
  }

  /** Resolves when the isolate's thread has finished pending work; also within a running script. */
  async #threadTurns(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, TURN_MS);
    // The isolate may be disposed already.
    this.#isolate.getHeapStatistics().then(() => resolve(), resolve);
    await promise;
    clearTimeout(late);
  }

  #dispatch(message: string): void {
    if (this.#isolate.isDisposed) {
      clearInterval(this.#timer);
      return;
    }
    this.#unanswered++;
    this.#session.dispatchProtocolMessage(message);
  }

  #answered(id: number): void {
    this.#unanswered--;
    this.#open.delete(id);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#unanswered === 0) this.#quiet?.();
  }
}

/** Undefined for anything but a request of the inspector protocol. */
export function parseRequest(text: string): InspectorRequest | undefined {
  try {
    const { id, method, params } = JSON.parse(text) as Partial<Record<keyof InspectorRequest, unknown>>;
    return typeof id === 'number' && id < OWN_IDS && typeof method === 'string' ? { id, method, params } : undefined;
  } catch {
    // Invalid JSON.
    return undefined;
  }
}
