/** Id and version of a session. */
export interface SdpOrigin {
  readonly id: number;
  readonly version: number;
}

/**
 * Our session description in one dialog. Whatever the media server writes, the phone sees one session whose version
 * increases by one with every change (RFC 3264 section 8, RFC 8866 section 5.2).
 */
export class LocalDescription {
  readonly #sessionId: number;
  #version: number;
  #last: string | undefined;

  /** @param origin what another node has told the phone; absent: a new session */
  constructor({ id, version }: SdpOrigin = newOrigin()) {
    this.#sessionId = id;
    this.#version = version;
  }

  /** What the phone has been told. */
  get origin(): SdpOrigin {
    return { id: this.#sessionId, version: this.#version };
  }

  /** Another node has told the phone something since. */
  resume({ version }: SdpOrigin): void {
    this.#version = version + 1;
    this.#last = undefined;
  }

  /** The media server's description, adapted for the phone; an unchanged one keeps its version. */
  of(sdp: string): string {
    const body = sdp.replace(/^o=\S+ \S+ \S+/m, 'o=');
    if (this.#last !== undefined && this.#last !== body) this.#version++;
    this.#last = body;
    return sdp.replace(/^o=\S+ \S+ \S+/m, `o=- ${this.#sessionId} ${this.#version}`);
  }
}

function newOrigin(now = Date.now()): SdpOrigin {
  return { id: now, version: now % 1_000_000_000 };
}
