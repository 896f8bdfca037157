import type ivm from 'isolated-vm';

/**
 * Connects a debugger to an isolate. Between two debuggers the session stays, so that breakpoints do too.
 *
 * The program waits until a debugger has sent `Runtime.runIfWaitingForDebugger`.
 */
export class InspectorLink {
  readonly ready: Promise<void>;
  readonly #session: ivm.InspectorSession;
  readonly #go: () => void;

  constructor(isolate: ivm.Isolate, send: (message: string) => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#go = resolve;
    this.#session = isolate.createInspectorSession();
    this.#session.onResponse = (_, message) => send(message);
    this.#session.onNotification = send;
  }

  dispatch(message: string): void {
    this.#session.dispatchProtocolMessage(message);
    if (message.includes('"Runtime.runIfWaitingForDebugger"')) this.#go();
  }

  /** The debugger went away: whatever it stopped goes on. */
  detach(): void {
    this.#session.dispatchProtocolMessage('{"id":1000000001,"method":"Debugger.disable"}');
    this.#go();
  }

  close(): void {
    this.#go();
    this.#session.dispose();
  }
}
