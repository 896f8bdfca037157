import type ivm from 'isolated-vm';

/** Ids of requests of ours, beyond those of debuggers. */
const OWN_IDS = 2_000_000_000;
const NUDGE = OWN_IDS;
const LAST_ID = 2_147_483_647;

/** Milliseconds without an answer after which the isolate is woken. */
const PATIENCE_MS = 20;
/** Milliseconds after which a thread that is still at work has looked up from it. */
const TURN_MS = 1000;

export interface WireListener {
  /** An event of the inspector protocol. */
  event(message: string): void;
  /** The answer to a request of the debugger. */
  answer(id: number, message: string): void;
}

/** A request of the inspector protocol, from a debugger. */
export interface InspectorRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
}

/** What can say something of itself. */
const TALKATIVE = ['Runtime', 'Console', 'Profiler', 'HeapProfiler', 'Debugger'];

/** Carries the inspector protocol to an isolate and back, and loses nothing on the way. */
export class InspectorWire {
  readonly #isolate: ivm.Isolate;
  readonly #session: ivm.InspectorSession;
  /** Requests without an answer. */
  readonly #open = new Set<number>();
  /** How many messages, those that only wake included, have no answer. */
  #unanswered = 0;
  /** Who waits until all are answered. */
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
   * isolated-vm may miss a message that comes at the moment a program stops or has handled another; the next one makes it
   * look again, so there is a next one until all are answered.
   */
  send(id: number, message: string): void {
    if (this.#closed) return;
    this.#open.add(id);
    this.#dispatch(message);
    this.#timer ??= setInterval(() => this.#dispatch(`{"id":${NUDGE},"method":"Schema.getDomains"}`), PATIENCE_MS);
  }

  /** Our own request, whose answer nobody waits for. */
  request(method: string, params: object = {}): void {
    this.#lastOwnId = this.#lastOwnId === LAST_ID ? OWN_IDS + 1 : this.#lastOwnId + 1;
    this.send(this.#lastOwnId, JSON.stringify({ id: this.#lastOwnId, method, params }));
  }

  /**
   * Ends it, before the isolate is disposed: isolated-vm crashes when a thread in the isolate has something to say to a session
   * that was disposed, and hangs when an isolate goes before its session. So it is disposed when it has nothing more to say.
   * The thread does the rest, at the next opportunity, and isolated-vm crashes when the isolate goes before that.
   * @returns resolves when it is; never when the isolate does not answer, or is gone
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

  /** Resolves when the isolate's thread has done what it had to do; a script that does not end takes the opportunity meanwhile. */
  async #threadTurns(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, TURN_MS);
    // The isolate may be gone by then.
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

/** undefined: it is no request of the inspector protocol. */
export function parseRequest(text: string): InspectorRequest | undefined {
  try {
    const { id, method, params } = JSON.parse(text) as Partial<Record<keyof InspectorRequest, unknown>>;
    return typeof id === 'number' && id < OWN_IDS && typeof method === 'string' ? { id, method, params } : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}
