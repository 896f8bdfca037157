import { sdpDirection } from '../sip-facts/index.ts';

/**
 * A week, in milliseconds: how long a far end may be silent that is not expected to send. The media server takes no 0 for
 * "no longer", once it watches.
 */
const SILENCE_EXPECTED_MS = 604_800_000;

/**
 * How long the far end of one channel may send nothing before the media server ends the channel (its variable
 * `media_timeout_audio`). One that holds, or only listens, is not expected to send.
 */
export class SilenceLimit {
  readonly #limitMs: number;
  #current: number;

  /**
   * @param limitMs 0: for ever
   * @param remoteSdp the far end's session description that the channel begins with, where there is one
   */
  constructor(limitMs: number, remoteSdp: string | undefined) {
    this.#limitMs = limitMs;
    this.#current = remoteSdp === undefined || talks(remoteSdp) ? limitMs : 0;
  }

  /** Headers of the INVITE that makes the channel; the dialplan of `freeswitch-config/` makes the variable of it. */
  get headers(): Readonly<Record<string, string>> {
    return this.#current === 0 ? {} : { 'X-Media-Timeout': String(this.#current) };
  }

  /**
   * The variable (`name value`) that the channel needs before it gets this session description of the far end: it is read when
   * that is taken up.
   * @returns undefined when it is what it has to be
   */
  variableFor(remoteSdp: string): string | undefined {
    if (this.#limitMs === 0) return undefined;
    const wanted = talks(remoteSdp) ? this.#limitMs : SILENCE_EXPECTED_MS;
    if (wanted === this.#current) return undefined;
    this.#current = wanted;
    return `media_timeout_audio ${wanted}`;
  }
}

function talks(sdp: string): boolean {
  return sdpDirection(sdp) === 'sendrecv';
}
