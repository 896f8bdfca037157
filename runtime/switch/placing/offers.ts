/** The media that called phones are offered. */
import type { MediaEndpoint, PlacedEndpointWish } from '../../media/index.ts';
import { LocalDescription } from '../../signalling/index.ts';

/** What one phone is offered. */
export interface Offer {
  readonly endpoint: MediaEndpoint;
  readonly description: LocalDescription;
}

/**
 * The endpoints for called phones: one for all, which the answering phone gets; with screening one for each phone, because
 * several may be talking to the scenario at the same time.
 */
export class Offers {
  readonly #create: (wish: PlacedEndpointWish) => Promise<MediaEndpoint>;
  readonly #drop: (work: Promise<unknown>) => void;
  readonly #each: boolean;
  /** By Call-ID of the branch. */
  readonly #own = new Map<string, Offer>();
  #shared: Offer | undefined;
  #over = false;

  /**
   * @param tools.drop follows the end of an endpoint
   * @param each whether each phone has one of its own
   */
  constructor(
    tools: {
      readonly create: (wish: PlacedEndpointWish) => Promise<MediaEndpoint>;
      readonly drop: (work: Promise<unknown>) => void;
    },
    each: boolean,
  ) {
    this.#create = tools.create;
    this.#drop = tools.drop;
    this.#each = each;
  }

  /**
   * Makes the endpoints of branches that have none, on one media server.
   * @throws MediaError
   */
  async open(callIds: readonly string[], wish: PlacedEndpointWish): Promise<void> {
    if (!this.#each) {
      this.#shared ??= await this.#make(wish);
      return;
    }
    const [first, ...others] = callIds;
    if (first === undefined) return;
    const offer = await this.#make(wish);
    this.#own.set(first, offer);
    const on = offer.endpoint.server;
    const made = await Promise.allSettled(
      others.map(async (callId) => this.#own.set(callId, await this.#make({ ...wish, on }))),
    );
    for (const each of made) if (each.status === 'rejected') throw each.reason;
  }

  of(callId: string): Offer | undefined {
    return this.#own.get(callId) ?? this.#shared;
  }

  /** The offer of a phone that answered: the caller of this method ends its endpoint. */
  take(callId: string): Offer | undefined {
    const offer = this.of(callId);
    if (!this.#own.delete(callId)) this.#shared = undefined;
    return offer;
  }

  /** Ends all endpoints that no phone has taken. */
  close(): void {
    this.#over = true;
    for (const { endpoint } of [...this.#own.values(), ...(this.#shared ? [this.#shared] : [])])
      this.#drop(endpoint.destroy());
    this.#own.clear();
    this.#shared = undefined;
  }

  async #make(wish: PlacedEndpointWish): Promise<Offer> {
    const endpoint = await this.#create(wish);
    const offer = { endpoint, description: new LocalDescription() };
    if (this.#over) this.#drop(endpoint.destroy());
    return offer;
  }
}
