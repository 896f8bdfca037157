import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { PacketIndexes } from '../../../../runtime/embedded/media/srtp/packet-index.ts';
import { SrtpSecurity } from '../../../../runtime/embedded/media/srtp/security.ts';
import { SrtpReceiver, SrtpSender } from '../../../../runtime/embedded/media/srtp/srtp.ts';
import { SRTP_KEY_OCTETS, type SrtpSuiteName } from '../../../../runtime/sip-facts/index.ts';
import { keyOctets, protection } from '../../../phones/media/srtp.ts';

const PLAIN = 172;

/** A packet with room for the tag. */
function packet(sequence: number, ssrc = 7): Buffer {
  const buffer = Buffer.alloc(PLAIN + 20, 0xd5);
  buffer.writeUInt16BE(0x8000, 0);
  buffer.writeUInt16BE(sequence & 0xffff, 2);
  buffer.writeUInt32BE(sequence * 160, 4);
  buffer.writeUInt32BE(ssrc, 8);
  return buffer;
}

function sealedBy(sender: SrtpSender, sequence: number, ssrc?: number): Buffer {
  const buffer = packet(sequence, ssrc);
  return buffer.subarray(0, sender.sealRtp(buffer, PLAIN));
}

for (const suite of Object.keys(SRTP_KEY_OCTETS) as SrtpSuiteName[]) {
  describe(`SRTP streams with ${suite}`, () => {
    const key = randomBytes(SRTP_KEY_OCTETS[suite]);
    const both = () => ({ sender: new SrtpSender({ suite, key }), receiver: new SrtpReceiver({ suite, key }) });

    it('are understood by another implementation, and understand it, across a rollover of the sequence number', () => {
      expect(keyOctets(suite)).to.equal(key.length);
      const { sender, receiver } = both();
      const other = protection(suite, key, key);
      for (let sequence = 65_530; sequence < 65_545; sequence += 1) {
        const plain = Buffer.from(packet(sequence).subarray(0, PLAIN));
        expect(other.open(sealedBy(sender, sequence))?.subarray(0, PLAIN), `sent ${sequence}`).to.deep.equal(plain);
        const theirs = other.seal(plain);
        expect(receiver.openRtp(theirs, 12)).to.equal(PLAIN);
        expect(theirs.subarray(0, PLAIN), `received ${sequence}`).to.deep.equal(plain);
      }
    });

    it('protect reports too, and another implementation understands them', () => {
      const { sender, receiver } = both();
      const other = protection(suite, key, key);
      const report = Buffer.from(`81c90007000000070000000800${'00'.repeat(19)}`, 'hex');
      for (let count = 0; count < 3; count += 1) {
        const sealed = Buffer.concat([report, Buffer.alloc(20)]);
        const length = sender.sealRtcp(sealed, report.length);
        expect(other.rtcp.decrypt(Buffer.from(sealed.subarray(0, length)))).to.deep.equal(report);
        const theirs = other.rtcp.encrypt(Buffer.from(report));
        const copy = Buffer.from(theirs);
        expect(receiver.openRtcp(theirs)).to.equal(report.length);
        expect(theirs.subarray(0, report.length)).to.deep.equal(report);
        expect(receiver.openRtcp(copy), 'repeated').to.equal(-1);
      }
      expect(receiver.openRtcp(Buffer.alloc(20, 1))).to.equal(-1);
    });

    it('take packets out of order, and each once', () => {
      const { sender, receiver } = both();
      const sealed = [1, 2, 3, 4].map((sequence) => sealedBy(sender, sequence));
      const open = (at: number): number => receiver.openRtp(Buffer.from(sealed[at] as Buffer), 12);
      expect([open(0), open(3), open(1)]).to.deep.equal([PLAIN, PLAIN, PLAIN]);
      expect([open(0), open(1), open(3)]).to.deep.equal([-1, -1, -1]);
      expect(open(2)).to.equal(PLAIN);
    });

    it('drop every packet with a changed octet, and go on', () => {
      const { sender, receiver } = both();
      const sealed = sealedBy(sender, 1);
      for (let at = 0; at < sealed.length; at += 1) {
        const forged = Buffer.from(sealed);
        forged[at] = (forged[at] as number) ^ 0x10;
        expect(receiver.openRtp(forged, 12), `octet ${at}`).to.equal(-1);
      }
      expect(receiver.openRtp(sealed, 12)).to.equal(PLAIN);
    });

    it('follow a bounded number of sources', () => {
      const { sender, receiver } = both();
      for (let ssrc = 1; ssrc <= 50; ssrc += 1) {
        expect(receiver.openRtp(sealedBy(new SrtpSender({ suite, key }), 1, ssrc), 12)).to.equal(PLAIN);
      }
      expect(receiver.openRtp(sealedBy(sender, 2, 50), 12)).to.equal(PLAIN);
    });

    it('never use an index twice', () => {
      const { sender } = both();
      expect(sealedBy(sender, 9)).to.have.length.above(PLAIN);
      expect(sealedBy(sender, 9)).to.have.length(0);
      const security = new SrtpSecurity();
      const other = { suite, key: randomBytes(key.length) };
      security.use({ suite, key }, other);
      expect(security.sealRtp(packet(9), PLAIN)).to.be.above(PLAIN);
      security.use(other, other);
      security.use({ suite, key }, other);
      expect(security.sealRtp(packet(9), PLAIN), 'after another key').to.equal(0);
    });
  });
}

describe('SRTP without a key', () => {
  it('lets no packet through', () => {
    const security = new SrtpSecurity();
    expect(security.sealRtp(packet(1), PLAIN)).to.equal(0);
    expect(security.openRtp(packet(1), 12)).to.equal(-1);
    expect(security.sealRtcp(packet(1), 32)).to.equal(0);
    expect(security.openRtcp(packet(1))).to.equal(-1);
    expect(security.rejected).to.equal(2);
  });
});

describe('SRTP packet indexes', () => {
  it('roll over with the sequence number, for late packets backwards', () => {
    const indexes = new PacketIndexes();
    for (const [sequence, index] of [
      [65_534, 65_534],
      [1, 65_537],
      [65_535, 65_535],
      [30_000, 95_536],
      [60_000, 125_536],
      [2, 131_074],
    ] as const) {
      expect(indexes.guess(sequence)).to.equal(index);
      indexes.use(index);
    }
    expect(indexes.used(65_535), 'too old').to.equal(true);
    expect(indexes.used(131_073)).to.equal(false);
  });
});
