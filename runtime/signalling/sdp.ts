/**
 * Our session description in one dialog. Whatever the media server writes, the phone sees one session whose version
 * increases by one with every change (RFC 3264 section 8, RFC 8866 section 5.2).
 */
export class LocalDescription {
  readonly #sessionId: number;
  #version: number;
  #last: string | undefined;

  /** @param now milliseconds since the epoch, used for the session id */
  constructor(now = Date.now()) {
    this.#sessionId = now;
    this.#version = now % 1_000_000_000;
  }

  /** The media server's description, adapted for the phone; an unchanged one keeps its version. */
  of(sdp: string): string {
    const body = sdp.replace(/^o=\S+ \S+ \S+/m, 'o=');
    if (this.#last !== undefined && this.#last !== body) this.#version++;
    this.#last = body;
    return sdp.replace(/^o=\S+ \S+ \S+/m, `o=- ${this.#sessionId} ${this.#version}`);
  }
}
