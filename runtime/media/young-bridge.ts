/** Protects new bridges from early leaving. */
import type { FsEndpoint } from 'drachtio-fsmrf';
import { aborted, elapsed } from './until-aborted.ts';

/** Milliseconds after the command for a bridge from which its sound counts as flowing. */
const YOUNG_MS = 2000;
/** Milliseconds to wait for the answer. */
const ANSWER_MS = 1000;
/** Milliseconds between two queries: a packet. */
const ASK_AGAIN_MS = 20;
/** State of the called channel while it runs the bridge. */
const IN_BRIDGE = 'CS_EXCHANGE_MEDIA';

/**
 * A bridge in its first moments. FreeSWITCH hangs up a channel that leaves before sound flows both ways (the reply to
 * `uuid_bridge`, CHANNEL_EXECUTE and CHANNEL_BRIDGE come earlier): each leg waits for the other and treats an early
 * departure as loss. The state is queried only when a leg wants to leave that early, which is rare.
 */
export class YoungBridge {
  readonly #begunAt = performance.now();
  readonly #second: FsEndpoint;
  readonly #ends: readonly AbortSignal[];
  #flowing: Promise<unknown> | undefined;

  /**
   * @param second the channel named second in the command
   * @param ends each aborted when one of the channels has ended
   */
  constructor(second: FsEndpoint, ends: readonly AbortSignal[]) {
    this.#second = second;
    this.#ends = ends;
  }

  /** Settles when sound flows or a channel has ended, after a second at the latest; never rejects. */
  async flows(): Promise<void> {
    const grown = performance.now() - this.#begunAt > YOUNG_MS;
    if (grown || this.#ends.some(({ aborted: ended }) => ended)) return;
    await (this.#flowing ??= this.#asked());
  }

  async #asked(): Promise<void> {
    const over = new AbortController();
    const proof = this.#proof(over.signal).catch(() => {
      // The channel has lost its connection, and ends with it.
    });
    await Promise.race([proof, aborted(AbortSignal.any([...this.#ends])), elapsed(ANSWER_MS)]);
    over.abort();
  }

  /**
   * Runs an application without effect. In a bridge, a channel runs it only after ten packets; before the bridge,
   * immediately and in another state.
   */
  async #proof(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const event = await this.#second.execute('set', 'bridge_flows=true');
      if (event.getHeader('Channel-State') === IN_BRIDGE) return;
      await elapsed(ASK_AGAIN_MS);
    }
  }
}
