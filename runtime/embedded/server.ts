/** What the composition root and the `embedded` command hold of an embedded server: a worker thread with a handle. */
export interface EmbeddedServer<Stats extends object> {
  /** Addresses actually bound (`ip:port`), by role, e.g. `{ app, sip }` or `{ eventSocket, sip }`. */
  readonly addresses: Readonly<Record<string, string>>;
  /** What is alive inside: dialogs, transactions, sockets, timers, channels ... For `/healthz` and leak tests. */
  stats(): Promise<Stats>;
  /** Ends calls without ceremony, closes every socket and the thread. Idempotent. */
  close(): Promise<void>;
  /** Settles when the thread ends by itself, with the error if there was one. */
  readonly exited: Promise<Error | undefined>;
}

/** A listener could not be opened. `code` is the system's (EADDRINUSE, EACCES, ...). */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: string;
  readonly address: string;
  constructor(code: string, address: string, what: string) {
    super(`${what}: cannot listen on ${address} (${code === 'EADDRINUSE' ? 'the address is in use' : code})`);
    this.code = code;
    this.address = address;
  }
}
