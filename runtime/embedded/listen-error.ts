/** A listener could not be opened. `code` is the system's error code (EADDRINUSE, EACCES, ...). */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: string;
  readonly address: string;
  /** The protocol, such as `SIP`. */
  readonly what: string;
  constructor(code: string, address: string, what: string) {
    super(`${what}: cannot listen on ${address} (${code === 'EADDRINUSE' ? 'the address is in use' : code})`);
    this.code = code;
    this.address = address;
    this.what = what;
  }
}
