/**
 * Chooses the source that a session listens to (symmetric RTP, RFC 4961): the first sender of valid RTP, so that a
 * phone behind NAT is heard. A packet from the address in the SDP then takes over for good. Other sources are refused.
 */
export class SourceLatch {
  #expectedAddress = '';
  #expectedPort = 0;
  #address = '';
  #port = 0;
  /** Cached, because it is read with every packet. */
  #target: { readonly address: string; readonly port: number } | undefined;
  #state: 'open' | 'latched' | 'confirmed' = 'open';
  /** Packets refused. */
  refused = 0;

  get state(): 'open' | 'latched' | 'confirmed' {
    return this.#state;
  }

  /** Destination of sent packets: the source or, before the first packet, the address in the SDP. */
  get target(): { readonly address: string; readonly port: number } | undefined {
    return this.#target;
  }

  /** Sets the far end's address from SDP; port 0 for none. The same address again changes nothing. */
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
   * @returns `stranger` for a packet to drop, `same` for the known source, `new` when the source and target changed
   */
  accept(address: string, port: number): 'same' | 'new' | 'stranger' {
    // A source port of 0 is forged, and cannot be answered.
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
