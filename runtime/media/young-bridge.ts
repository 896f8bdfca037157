import type { FsEndpoint } from 'drachtio-fsmrf';
import { aborted, elapsed } from './until-aborted.ts';

/** Milliseconds after its begin from which the sound of a bridge counts as flowing without being asked for. */
const YOUNG_MS = 1000;
/** Milliseconds to wait for the answer. */
const ANSWER_MS = 1000;
/** Milliseconds between two questions: a packet. */
const ASK_AGAIN_MS = 20;
/** State of the channel that was called into a bridge, while it runs the bridge. */
const IN_BRIDGE = 'CS_EXCHANGE_MEDIA';

/**
 * A bridge in its first moments. FreeSWITCH hangs a channel up that leaves before the sound flows both ways
 * (`uuid_bridge`, CHANNEL_EXECUTE and CHANNEL_BRIDGE come earlier): each leg waits for the other to come, and takes one
 * that is away again for lost. It is asked only when a leg is about to leave that early: hardly one does.
 */
export class YoungBridge {
  #begunAt: number | undefined;
  readonly #begun: Promise<unknown>;
  readonly #second: FsEndpoint;
  readonly #ends: readonly AbortSignal[];
  #flowing: Promise<unknown> | undefined;

  /**
   * @param begun settles when both channels have begun with `uuid_bridge`
   * @param second the channel that was named second in the command
   * @param ends each aborted when one of the channels has ended
   */
  constructor(begun: Promise<unknown>, second: FsEndpoint, ends: readonly AbortSignal[]) {
    this.#begun = begun.then(() => {
      this.#begunAt = performance.now();
    });
    this.#second = second;
    this.#ends = ends;
  }

  /** Settles, never by a failure, when the sound flows, or a channel has ended; at the latest after a second. */
  async flows(): Promise<void> {
    const grown = this.#begunAt !== undefined && performance.now() - this.#begunAt > YOUNG_MS;
    if (grown || this.#ends.some(({ aborted: ended }) => ended)) return;
    await (this.#flowing ??= this.#asked());
  }

  async #asked(): Promise<void> {
    const over = new AbortController();
    const proof = this.#proof(over.signal).catch(() => {
      // The channel has lost its connection, with which it ends.
    });
    await Promise.race([proof, aborted(AbortSignal.any([...this.#ends])), elapsed(ANSWER_MS)]);
    over.abort();
  }

  /**
   * Runs an application that changes nothing. What a channel in a bridge is told to run waits until ten packets have
   * passed; before the bridge, it runs at once, in another state.
   */
  async #proof(over: AbortSignal): Promise<void> {
    await this.#begun;
    while (!over.aborted) {
      const event = await this.#second.execute('set', 'bridge_flows=true');
      if (event.getHeader('Channel-State') === IN_BRIDGE) return;
      await elapsed(ASK_AGAIN_MS);
    }
  }
}
