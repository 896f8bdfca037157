/** The socket of a session. */
import type { PortPair } from './ports.ts';
import { emptyCounters } from './figures.ts';
import { SourceLatch } from './latch.ts';
import { type PacketSecurity, PLAIN } from './security.ts';
import type { RtpSender } from './sender.ts';
import type { RtpEnvironment } from './session-parameters.ts';

/** The socket of a session with its far end, its encryption, and what passed through it. */
export class MediaPort {
  readonly pair: PortPair;
  readonly environment: RtpEnvironment;
  readonly counters = emptyCounters();
  readonly latch = new SourceLatch();
  security: PacketSecurity = PLAIN;
  /** Whether datagrams are passed on as they are, and no sound is sent. */
  relaying = false;
  closed = false;

  constructor(pair: PortPair, environment: RtpEnvironment) {
    this.pair = pair;
    this.environment = environment;
  }

  /** Sends the last packet of a sender to the far end. @param latenessMs after its due time */
  send(sender: RtpSender, length: number, latenessMs: number): void {
    const { target } = this.latch;
    if (target === undefined) return;
    const sealed = this.security.sealRtp(sender.datagram, length);
    if (sealed === 0) return;
    this.counters.outPackets += 1;
    this.counters.outRawBytes += sealed;
    this.counters.outMediaBytes += sealed;
    this.environment.figures.sent(latenessMs);
    this.pair.rtp.send(sender.cut(sealed), target.port, target.address);
  }

  /** Sends a datagram to the far end as it is. */
  pass(datagram: Buffer): void {
    const { target } = this.latch;
    if (!this.relaying || this.closed || target === undefined) return;
    this.counters.outPackets += 1;
    this.counters.outRawBytes += datagram.length;
    this.environment.figures.sent(0);
    this.pair.rtp.send(datagram, target.port, target.address);
  }
}
