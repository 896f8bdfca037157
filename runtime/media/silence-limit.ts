/** The limit for silent far ends. */
import { sdpDirection } from '../sip-facts/index.ts';

/**
 * A week in milliseconds: the limit for a far end that is not expected to send. Once the media server watches a
 * channel, it does not accept 0 for "unlimited".
 */
const SILENCE_EXPECTED_MS = 604_800_000;

/**
 * Milliseconds that a channel's far end may be silent before the media server ends the channel (its variable
 * `media_timeout_audio`). A far end on hold, or one that only listens, is not expected to send.
 */
export class SilenceLimit {
  readonly #limitMs: number;
  #current: number;

  /**
   * @param limitMs 0: unlimited
   * @param remoteSdp the far end's initial session description, if any
   */
  constructor(limitMs: number, remoteSdp: string | undefined) {
    this.#limitMs = limitMs;
    this.#current = remoteSdp === undefined || talks(remoteSdp) ? limitMs : 0;
  }

  /**
   * Headers of the INVITE that creates the channel; the dialplan of `freeswitch-config/` sets the variable from them.
   */
  get headers(): Readonly<Record<string, string>> {
    return this.#current === 0 ? {} : { 'X-Media-Timeout': String(this.#current) };
  }

  /**
   * The variable (`name value`) to set before the channel receives this session description, which makes the channel
   * read it.
   * @returns undefined when it is already right
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
