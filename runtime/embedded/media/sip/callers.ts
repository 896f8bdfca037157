import { networkInterfaces } from 'node:os';

/** Lets every address call. */
const ANY_CALLER = 'any';

/**
 * Who may call the server. A call names the program that is to control it (`X-esl-outbound`), and that may then do
 * anything: only the SIP server of the same machine is let in, unless others are named.
 */
export class Callers {
  readonly #named: ReadonlySet<string> | undefined;
  #own = ownAddresses();

  /** @param named addresses besides which nobody is let in; `any` for everybody; undefined for this machine's own */
  constructor(named: readonly string[] | undefined) {
    this.#named = named === undefined ? undefined : new Set(named);
  }

  /** Whether a request from this address is taken. */
  admits(address: string): boolean {
    if (this.#named !== undefined) return this.#named.has(address) || this.#named.has(ANY_CALLER);
    // The whole loopback network is this machine, whichever of its addresses an interface names.
    if (address.startsWith('127.') || this.#own.has(address)) return true;
    // An interface may have come up since.
    this.#own = ownAddresses();
    return this.#own.has(address);
  }
}

function ownAddresses(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(addresses.map(({ address }) => address));
}
