/** The media that called phones are offered. */
import type { CodecWish, MediaEndpoint, OfferedKeys, PlacedEndpointWish, SrtpPolicy } from '../../media/index.ts';
import { LocalDescription } from '../../signalling/index.ts';
import { placeOf } from '../../sip-facts/index.ts';

/** What one phone is offered. */
export interface Offer {
  readonly endpoint: MediaEndpoint;
  readonly description: LocalDescription;
}

/** A phone to call. */
export interface OfferedBranch {
  readonly callId: string;
  /** IP address of its next hop, if it is known. */
  readonly peer: string | undefined;
  /** Encryption that it is offered. */
  readonly srtp: SrtpPolicy | undefined;
  /** Codecs that it is offered; undefined: the media server's. */
  readonly codecs: CodecWish | undefined;
  /** Keys of encrypted sound that it is offered. */
  readonly keys: OfferedKeys;
}

/**
 * The endpoints for called phones: one for all of the same place and codecs, which the answering phone gets: elsewhere, this machine has
 * another address. A phone has one of its own with screening, because several may be talking to the scenario at the same time, and for
 * encrypted sound, because no other phone may know its key.
 */
export class Offers {
  readonly #create: (wish: PlacedEndpointWish) => Promise<MediaEndpoint>;
  readonly #drop: (work: Promise<unknown>) => void;
  readonly #each: boolean;
  /** By Call-ID of the branch. */
  readonly #own = new Map<string, Offer>();
  /** By {@link kindOf}. */
  readonly #shared = new Map<string, Offer>();
  /** The kind of each branch that shares one, by Call-ID. */
  readonly #kinds = new Map<string, string>();
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
  async open(branches: readonly OfferedBranch[], wish: PlacedEndpointWish): Promise<void> {
    const own = branches.filter((branch) => this.#each || isEncrypted(branch));
    let { on } = wish;
    for (const branch of branches) {
      if (own.includes(branch)) continue;
      const kind = kindOf(branch);
      const shared =
        this.#shared.get(kind) ?? (await this.#make({ ...wish, on, peer: branch.peer, codecs: branch.codecs }));
      this.#shared.set(kind, shared);
      this.#kinds.set(branch.callId, kind);
      on ??= shared.endpoint.server;
    }
    const first = on === undefined ? own.shift() : undefined;
    if (first !== undefined) on = (await this.#makeOwn(first, wish)).endpoint.server;
    const made = await Promise.allSettled(own.map((branch) => this.#makeOwn(branch, { ...wish, on })));
    for (const each of made) if (each.status === 'rejected') throw each.reason;
  }

  of(callId: string): Offer | undefined {
    return this.#own.get(callId) ?? this.#shared.get(this.#kinds.get(callId) ?? '');
  }

  /** The offer of a phone that answered: the caller of this method ends its endpoint. */
  take(callId: string): Offer | undefined {
    const offer = this.of(callId);
    if (!this.#own.delete(callId)) this.#shared.delete(this.#kinds.get(callId) ?? '');
    return offer;
  }

  /** Ends all endpoints that no phone has taken. */
  close(): void {
    this.#over = true;
    for (const { endpoint } of [...this.#own.values(), ...this.#shared.values()]) this.#drop(endpoint.destroy());
    this.#own.clear();
    this.#shared.clear();
  }

  async #makeOwn(branch: OfferedBranch, wish: PlacedEndpointWish): Promise<Offer> {
    const { callId, srtp, codecs, keys, peer } = branch;
    const offer = await this.#make({ ...wish, srtp, codecs, keys, peer });
    this.#own.set(callId, offer);
    return offer;
  }

  async #make(wish: PlacedEndpointWish): Promise<Offer> {
    const endpoint = await this.#create(wish);
    const offer = { endpoint, description: new LocalDescription() };
    if (this.#over) this.#drop(endpoint.destroy());
    return offer;
  }
}

/** Whether the phone is offered keys, alone or beside plain sound. */
function isEncrypted({ srtp, keys }: OfferedBranch): boolean {
  return keys === 'webrtc' || srtp === 'required' || srtp === 'preferred';
}

/** Phones of one kind may have the same session description. */
function kindOf({ peer, codecs }: OfferedBranch): string {
  return [placeOf(peer), codecs?.only, codecs?.order].join(' ');
}
