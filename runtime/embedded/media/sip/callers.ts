/** The addresses that may call the server. */
import { networkInterfaces } from 'node:os';

/** Value of the option that admits every address. */
const ANY_CALLER = 'any';

/**
 * The addresses that may call the server. A call names the program that controls it (`X-esl-outbound`), and this
 * program can command the server. Therefore only this machine is admitted, unless the options name other addresses.
 */
export class Callers {
  readonly #named: ReadonlySet<string> | undefined;
  #own = ownAddresses();

  /** @param named the only admitted addresses; `any` admits all; undefined admits this machine's own addresses */
  constructor(named: readonly string[] | undefined) {
    this.#named = named === undefined ? undefined : new Set(named);
  }

  /** Whether requests from this address are accepted. */
  admits(address: string): boolean {
    if (this.#named !== undefined) return this.#named.has(address) || this.#named.has(ANY_CALLER);
    // All of 127.0.0.0/8 is this machine, not only the addresses of its interfaces.
    if (address.startsWith('127.') || this.#own.has(address)) return true;
    // A new interface may have come up since.
    this.#own = ownAddresses();
    return this.#own.has(address);
  }
}

function ownAddresses(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(addresses.map(({ address }) => address));
}
