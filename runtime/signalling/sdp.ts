/** Media direction that a session description asks for (RFC 3264 section 5.1). */
export type SdpDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/**
 * Direction of the first audio stream, seen from who wrote the description. The old way to hold, an address of
 * 0.0.0.0 (RFC 2543), counts as `inactive`.
 */
export function sdpDirection(sdp: string): SdpDirection {
  let session: SdpDirection = 'sendrecv';
  let media: SdpDirection | undefined;
  let address = '';
  let inAudio = false;
  for (const line of sdp.split(/\r?\n/)) {
    if (line.startsWith('m=')) {
      if (inAudio) break;
      inAudio = line.startsWith('m=audio');
      continue;
    }
    const direction = /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/.exec(line)?.[1] as SdpDirection | undefined;
    if (direction !== undefined) {
      if (inAudio) media = direction;
      else session = direction;
    }
    const connection = /^c=IN IP[46] (\S+)/.exec(line)?.[1];
    if (connection !== undefined && (inAudio || address === '')) address = connection;
  }
  if (address === '0.0.0.0') return 'inactive';
  return media ?? session;
}

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
