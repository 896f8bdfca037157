/**
 * Which source a session listens to (symmetric RTP, RFC 4961): the first one that sends valid RTP, so that a party
 * behind NAT is heard. A packet from the very address of the SDP then takes over for good. Everyone else is refused.
 */
export class SourceLatch {
  #expectedAddress = '';
  #expectedPort = 0;
  #address = '';
  #port = 0;
  /** Made when it changes: it is asked for with every packet. */
  #target: { readonly address: string; readonly port: number } | undefined;
  #state: 'open' | 'latched' | 'confirmed' = 'open';
  /** Packets refused. */
  refused = 0;

  get state(): 'open' | 'latched' | 'confirmed' {
    return this.#state;
  }

  /** Where to send: the source once there is one, the address of the SDP before; undefined without either. */
  get target(): { readonly address: string; readonly port: number } | undefined {
    return this.#target;
  }

  /** A new far end by SDP; port 0 for none. The same one again changes nothing. */
  expect(address: string, port: number): void {
    if (address === this.#expectedAddress && port === this.#expectedPort) return;
    this.#expectedAddress = address;
    this.#expectedPort = port;
    this.#state = 'open';
    this.#target = port === 0 ? undefined : { address, port };
  }

  /**
   * Decides about one valid packet.
   *
   * @returns `stranger` to drop it, `same` for the known source, `new` when the source (and so the target) changed
   */
  accept(address: string, port: number): 'same' | 'new' | 'stranger' {
    // A forged source port of 0: nothing could be sent there.
    if (this.#expectedPort === 0 || port === 0) return this.#refuse();
    const isExpected = port === this.#expectedPort && address === this.#expectedAddress;
    if (this.#state !== 'open' && port === this.#port && address === this.#address) {
      if (isExpected) this.#state = 'confirmed';
      return 'same';
    }
    if (this.#state === 'confirmed' || (this.#state === 'latched' && !isExpected)) return this.#refuse();
    this.#address = address;
    this.#port = port;
    this.#state = isExpected ? 'confirmed' : 'latched';
    this.#target = { address, port };
    return 'new';
  }

  #refuse(): 'stranger' {
    this.refused += 1;
    return 'stranger';
  }
}
