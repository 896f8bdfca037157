/** Protection of a session by SRTP. */
import type { PacketSecurity } from '../rtp/security.ts';
import { type SrtpKey, SrtpReceiver, SrtpSender } from './srtp.ts';

/**
 * The keys of both directions. A direction without a key lets nothing through: an encrypted session never sends or takes a plain
 * packet.
 */
export class SrtpSecurity implements PacketSecurity {
  /** By key: the same key is never used with counters that begin again. */
  readonly #senders = new Map<string, SrtpSender>();
  #sender: SrtpSender | undefined;
  #receiver: SrtpReceiver | undefined;
  #receiveKey: string | undefined;
  #rejected = 0;

  get rejected(): number {
    return this.#rejected;
  }

  /** Uses these keys from now on. The same keys again change nothing: counters and replay lists go on. */
  use(send: SrtpKey, receive: SrtpKey): void {
    const sendKey = nameOf(send);
    this.#sender = this.#senders.get(sendKey) ?? new SrtpSender(send);
    this.#senders.set(sendKey, this.#sender);
    const receiveKey = nameOf(receive);
    if (receiveKey !== this.#receiveKey) this.#receiver = new SrtpReceiver(receive);
    this.#receiveKey = receiveKey;
  }

  sealRtp(datagram: Buffer, length: number): number {
    return this.#sender?.sealRtp(datagram, length) ?? 0;
  }

  openRtp(datagram: Buffer, clear: number): number {
    return this.#counted(this.#receiver?.openRtp(datagram, clear) ?? -1);
  }

  sealRtcp(datagram: Buffer, length: number): number {
    return this.#sender?.sealRtcp(datagram, length) ?? 0;
  }

  openRtcp(datagram: Buffer): number {
    return this.#counted(this.#receiver?.openRtcp(datagram) ?? -1);
  }

  #counted(length: number): number {
    if (length < 0) this.#rejected += 1;
    return length;
  }
}

function nameOf({ suite, key }: SrtpKey): string {
  return `${suite} ${key.toString('base64')}`;
}
