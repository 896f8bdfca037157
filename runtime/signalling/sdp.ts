/**
 * The session description of our side of one dialog. Whatever the media server writes, the phone sees one session whose
 * version grows by one with every change (RFC 3264 section 8, RFC 8866 section 5.2).
 */
export class LocalDescription {
  readonly #sessionId: number;
  #version: number;
  #last: string | undefined;

  /** @param now milliseconds since the epoch; the session id is made of it */
  constructor(now = Date.now()) {
    this.#sessionId = now;
    this.#version = now % 1_000_000_000;
  }

  /** The media server's description as the phone is to see it; the same one again stays what it was. */
  of(sdp: string): string {
    const body = sdp.replace(/^o=\S+ \S+ \S+/m, 'o=');
    if (this.#last !== undefined && this.#last !== body) this.#version++;
    this.#last = body;
    return sdp.replace(/^o=\S+ \S+ \S+/m, `o=- ${this.#sessionId} ${this.#version}`);
  }
}
