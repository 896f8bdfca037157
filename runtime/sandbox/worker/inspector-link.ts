import type ivm from 'isolated-vm';

/** Ids of requests of ours, beyond those of debuggers. */
const OWN_IDS = 2_000_000_000;
const NUDGE = OWN_IDS;

/** Milliseconds without an answer after which the isolate is woken. */
const PATIENCE_MS = 20;

/** Connects a debugger to an isolate. The program waits until it has sent `Runtime.runIfWaitingForDebugger`. */
export class InspectorLink {
  readonly ready: Promise<void>;
  readonly #session: ivm.InspectorSession;
  readonly #go: () => void;
  /** Requests without an answer. */
  readonly #open = new Set<number>();
  #lastOwnId = OWN_IDS;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(isolate: ivm.Isolate, send: (message: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#go = resolve;
    this.#session = isolate.createInspectorSession();
    this.#session.onNotification = send;
    this.#session.onResponse = (id, message) => {
      this.#answered(id);
      if (id < OWN_IDS) send(message);
    };
  }

  /** A message of the debugger; what is no request of the inspector protocol is dropped. */
  dispatch(message: string): void {
    const request = parseRequest(message);
    if (!request || this.#closed) return;
    this.#request(request.id, message);
    if (request.method === 'Runtime.runIfWaitingForDebugger') this.#go();
  }

  /**
   * The debugger went away: the program goes on and stops nowhere. The session stays, because one that is disposed while
   * the program stands still would leave it standing.
   */
  detach(): void {
    if (this.#closed) return;
    this.#requestOwn('Debugger.setSkipAllPauses', { skip: true });
    this.#requestOwn('Debugger.resume', {});
    this.#go();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#go();
    this.#session.dispose();
  }

  #requestOwn(method: string, params: object): void {
    const id = ++this.#lastOwnId;
    this.#request(id, JSON.stringify({ id, method, params }));
  }

  /**
   * isolated-vm may miss a message that comes at the moment a program stops or has handled another; the next one makes it
   * look again, so there is a next one until all are answered.
   */
  #request(id: number, message: string): void {
    this.#open.add(id);
    this.#session.dispatchProtocolMessage(message);
    this.#timer ??= setInterval(() => {
      this.#session.dispatchProtocolMessage(`{"id":${NUDGE},"method":"Schema.getDomains"}`);
    }, PATIENCE_MS);
  }

  #answered(id: number): void {
    this.#open.delete(id);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function parseRequest(text: string): { readonly id: number; readonly method: string } | undefined {
  try {
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown };
    return typeof id === 'number' && id < OWN_IDS && typeof method === 'string' ? { id, method } : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}
