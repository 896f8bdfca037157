import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { bindUdp } from '../../../runtime/embedded/media/rtp/ports.ts';
import { Reception } from '../../../runtime/embedded/media/rtp/reception.ts';
import { RtcpResponder } from '../../../runtime/embedded/media/rtp/rtcp.ts';
import { JitterBuffer } from '../../../runtime/embedded/media/rtp/jitter-buffer.ts';
import { SourceLatch } from '../../../runtime/embedded/media/rtp/latch.ts';
import { emptyPacket, parseRtp, sequenceDistance, writeRtpHeader } from '../../../runtime/embedded/media/rtp/packet.ts';
import { RtpSender } from '../../../runtime/embedded/media/rtp/sender.ts';
import { TelephoneEventReceiver, TelephoneEventSender } from '../../../runtime/embedded/media/rtp/telephone-event.ts';
import { eventually } from '../../support/eventually.ts';
import { Ticker } from '../../../runtime/embedded/media/rtp/ticker.ts';

describe('embedded media server: RTP', () => {
  describe('packets', () => {
    it('writes a header that is read back unchanged', () => {
      fc.assert(
        fc.property(
          fc.boolean(),
          fc.nat(127),
          fc.nat(0xffff),
          fc.nat(0xffffffff),
          fc.nat(0xffffffff),
          (marker, type, sequence, timestamp, ssrc) => {
            fc.pre(!(marker && type >= 64 && type <= 95)); // those octets are RTCP (RFC 5761)
            const datagram = new Uint8Array(20);
            writeRtpHeader(datagram, marker, type, sequence, timestamp, ssrc);
            const packet = emptyPacket();
            expect(parseRtp(datagram, packet)).to.equal(true);
            expect(packet).to.deep.equal({
              marker,
              payloadType: type,
              sequence,
              timestamp,
              ssrc,
              payloadOffset: 12,
              payloadLength: 8,
            });
          },
        ),
        { seed: 1, numRuns: 500 },
      );
    });

    it('removes CSRCs, extensions and padding, and refuses invalid sizes', () => {
      const packet = emptyPacket();
      const full = Buffer.from('b20000010000000200000003000000aa000000bbbede0001deadbeef0102030405000003', 'hex');
      expect(parseRtp(full, packet)).to.equal(true);
      expect([packet.payloadOffset, packet.payloadLength]).to.deep.equal([28, 5]);
      for (let size = 0; size < 28; size += 1) expect(parseRtp(full.subarray(0, size), packet)).to.equal(false);
      expect(parseRtp(Buffer.from('80c8000600000000000000000000000000', 'hex'), packet)).to.equal(false); // RTCP
      expect(parseRtp(Buffer.from('40000001000000020000000300', 'hex'), packet)).to.equal(false); // version 1
    });

    it('never reads outside of any datagram (seeded fuzz)', () => {
      const packet = emptyPacket();
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 64 }), (datagram) => {
          if (!parseRtp(datagram, packet)) return;
          expect(packet.payloadOffset + packet.payloadLength).to.be.at.most(datagram.length);
          expect(packet.payloadLength).to.be.at.least(0);
        }),
        { seed: 20261121, numRuns: 20_000, interruptAfterTimeLimit: 2000 },
      );
    });

    it('computes the distance of sequence numbers across the wrap', () => {
      expect(sequenceDistance(0xffff, 0)).to.equal(1);
      expect(sequenceDistance(2, 0xfffe)).to.equal(-4);
    });
  });

  describe('telephone-events', () => {
    const payload = (code: number, end: boolean, duration: number): Uint8Array =>
      Uint8Array.from([code, (end ? 0x80 : 0) | 10, duration >> 8, duration & 0xff]);

    it('all packets of an event are one digit, reported at its first end packet', () => {
      const receiver = new TelephoneEventReceiver();
      const digits = [
        receiver.receive(payload(1, false, 160), 0, 4, { timestamp: 1000, sequence: 1 }),
        receiver.receive(payload(1, false, 320), 0, 4, { timestamp: 1000, sequence: 2 }),
        receiver.receive(payload(1, true, 480), 0, 4, { timestamp: 1000, sequence: 3 }),
        receiver.receive(payload(1, true, 480), 0, 4, { timestamp: 1000, sequence: 4 }),
        receiver.receive(payload(11, true, 800), 0, 4, { timestamp: 2000, sequence: 6 }),
        receiver.receive(payload(1, true, 480), 0, 4, { timestamp: 1000, sequence: 5 }),
      ];
      expect(digits).to.deep.equal([
        undefined,
        undefined,
        { digit: '1', duration: 480 },
        undefined,
        { digit: '#', duration: 800 },
        undefined,
      ]);
    });

    it('an event with a lost end is reported when the next one begins', () => {
      const receiver = new TelephoneEventReceiver();
      receiver.receive(payload(4, false, 320), 0, 4, { timestamp: 1000, sequence: 1 });
      expect(receiver.active).to.equal(true);
      const next = receiver.receive(payload(5, false, 160), 0, 4, { timestamp: 3000, sequence: 2 });
      expect(next).to.deep.equal({ digit: '4', duration: 320 });
      expect(receiver.flush()).to.deep.equal({ digit: '5', duration: 160 });
    });

    // SIPp plays each digit as it stands in its capture: the key 2 has earlier timestamps and numbers than the key #.
    it('an event with an earlier timestamp is reported when the sender restarted', () => {
      const receiver = new TelephoneEventReceiver();
      const hash = receiver.receive(payload(11, true, 2240), 0, 4, { timestamp: 92640, sequence: 8443 });
      const two = receiver.receive(payload(2, true, 2240), 0, 4, { timestamp: 23200, sequence: 8042 });
      expect([hash?.digit, two?.digit]).to.deep.equal(['#', '2']);
    });

    it('too short and unknown events are ignored', () => {
      const receiver = new TelephoneEventReceiver();
      expect(receiver.receive(payload(1, true, 160), 0, 3, { timestamp: 1, sequence: 1 })).to.equal(undefined);
      expect(receiver.receive(payload(99, true, 160), 0, 4, { timestamp: 1, sequence: 2 })).to.equal(undefined);
    });

    it('sent events are received: growing duration, three end packets, a pause between digits', () => {
      const sender = new TelephoneEventSender();
      const receiver = new TelephoneEventReceiver();
      expect(sender.enqueue('5x#', 100)).to.equal(2);
      const heard: string[] = [];
      let ends = 0;
      for (let frame = 0; frame < 40; frame += 1) {
        const packet = sender.next();
        if (packet === undefined || packet === 'gap') continue;
        if ((sender.payload[1] as number) & 0x80) ends += 1;
        const timestamp = (frame - packet.framesSinceStart) * 160;
        const digit = receiver.receive(sender.payload, 0, 4, { timestamp, sequence: frame });
        if (digit !== undefined) heard.push(`${digit.digit}${digit.duration}`);
      }
      expect(heard).to.deep.equal(['5800', '#800']);
      expect(ends).to.equal(6);
      expect(sender.pending).to.equal(0);
    });

    it('a digit lasts whole frames', () => {
      const sender = new TelephoneEventSender();
      sender.enqueue('#', 125);
      const durations: number[] = [];
      while (typeof sender.next() === 'object') {
        durations.push(((sender.payload[2] as number) << 8) | (sender.payload[3] as number));
      }
      expect(durations).to.deep.equal([160, 320, 480, 640, 800, 960, 1120, 1120, 1120]);
    });

    it('w and W are pauses of half a second and a second', () => {
      const sender = new TelephoneEventSender();
      expect(sender.enqueue('1W2w', 40)).to.equal(4);
      const slots = Array.from({ length: 90 }, () => sender.next());
      const free = slots.map((slot) => slot === undefined);
      const second = slots.findIndex((slot, index) => index > 3 && typeof slot === 'object');
      expect(free.slice(0, second).filter(Boolean)).to.have.length(50);
      expect(sender.pending).to.equal(0);
    });
  });

  describe('jitter buffer', () => {
    const push = (buffer: JitterBuffer, sequence: number): void =>
      buffer.push(sequence, new Uint8Array(160).fill(sequence & 0xff), 0, 160);
    const pull = (buffer: JitterBuffer): number | undefined => {
      const target = new Uint8Array(480);
      return buffer.pull(target) === 0 ? undefined : target[0];
    };

    it('puts packets in order and reports a lost one as a missing frame', () => {
      const buffer = new JitterBuffer();
      for (const sequence of [10, 12, 11, 14]) push(buffer, sequence);
      expect([pull(buffer), pull(buffer), pull(buffer), pull(buffer), pull(buffer)]).to.deep.equal([
        10,
        11,
        12,
        undefined,
        14,
      ]);
      expect(buffer.lost).to.equal(1);
    });

    it('works across the wrap of sequence numbers', () => {
      const buffer = new JitterBuffer();
      for (const sequence of [0xfffe, 0xffff, 0, 1]) push(buffer, sequence);
      expect([pull(buffer), pull(buffer), pull(buffer), pull(buffer)]).to.deep.equal([0xfe, 0xff, 0, 1]);
    });

    it('drops duplicates, late packets, and the oldest ones on overflow', () => {
      const buffer = new JitterBuffer();
      for (const sequence of [5, 5, 6]) push(buffer, sequence);
      expect([pull(buffer), pull(buffer)]).to.deep.equal([5, 6]);
      push(buffer, 4);
      expect(buffer.dropped).to.equal(2);
      const burst = new JitterBuffer();
      for (let sequence = 0; sequence < 40; sequence += 1) push(burst, sequence);
      expect(burst.depth).to.be.at.most(10);
    });

    it('keeps its limits under any traffic (seeded fuzz)', () => {
      fc.assert(
        fc.property(
          fc.array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0, max: 40 }), fc.constant(-1)), { maxLength: 200 }),
          (steps) => {
            const buffer = new JitterBuffer();
            for (const step of steps) {
              if (step < 0) pull(buffer);
              else push(buffer, step);
              expect(buffer.depth).to.be.within(0, 10);
            }
            for (let count = 0; count < 40; count += 1) pull(buffer);
            expect(buffer.depth).to.equal(0);
          },
        ),
        { seed: 20261121, numRuns: 1500, interruptAfterTimeLimit: 3000 },
      );
    });
  });

  describe('source latch', () => {
    it('accepts the first source, changes once to the address of the SDP, and refuses others', () => {
      const latch = new SourceLatch();
      expect(latch.accept('10.0.0.9', 9)).to.equal('stranger'); // nobody is expected yet
      latch.expect('10.0.0.1', 4000);
      expect(latch.target).to.deep.equal({ address: '10.0.0.1', port: 4000 });
      expect(latch.accept('192.0.2.7', 61000)).to.equal('new');
      expect(latch.target).to.deep.equal({ address: '192.0.2.7', port: 61000 });
      expect(latch.accept('10.0.0.9', 9)).to.equal('stranger');
      expect(latch.accept('10.0.0.1', 4000)).to.equal('new');
      expect(latch.accept('192.0.2.7', 61000)).to.equal('stranger');
      expect(latch.state).to.equal('confirmed');
      latch.expect('10.0.0.1', 4002);
      expect(latch.state).to.equal('open');
      expect(latch.accept('10.0.0.1', 0), 'a port that nothing can be sent to').to.equal('stranger');
    });
  });

  describe('sender', () => {
    const header = (sender: RtpSender): { sequence: number; timestamp: number; marker: boolean } => ({
      sequence: sender.datagram.readUInt16BE(2),
      timestamp: sender.datagram.readUInt32BE(4),
      marker: ((sender.datagram[1] as number) & 0x80) !== 0,
    });

    it('sequence and timestamp continue from own frames to another stream and back', () => {
      const sender = new RtpSender();
      sender.frame(1, 0, 160);
      const first = header(sender);
      expect(first.marker).to.equal(true);
      sender.frame(2, 0, 160);
      const second = header(sender);
      expect([(second.sequence - first.sequence) & 0xffff, (second.timestamp - first.timestamp) >>> 0]).to.deep.equal([
        1, 160,
      ]);
      const source = { ...emptyPacket(), ssrc: 7, sequence: 65535, timestamp: 0xffffff60 };
      sender.translate(3, source, 0, 160);
      const third = header(sender);
      expect([(third.sequence - second.sequence) & 0xffff, third.marker]).to.deep.equal([1, true]);
      sender.translate(4, { ...source, sequence: 0, timestamp: 0 }, 0, 160);
      const fourth = header(sender);
      expect([(fourth.sequence - third.sequence) & 0xffff, (fourth.timestamp - third.timestamp) >>> 0]).to.deep.equal([
        1, 160,
      ]);
      sender.frame(5, 0, 160);
      const fifth = header(sender);
      expect((fifth.sequence - fourth.sequence) & 0xffff).to.equal(1);
      expect((fifth.timestamp - fourth.timestamp) >>> 0).to.be.at.least(160);
    });

    it('losses of the other stream are visible, omitted packets leave no gap', () => {
      const sender = new RtpSender();
      const source = { ...emptyPacket(), ssrc: 7, sequence: 100, timestamp: 1000 };
      sender.translate(1, source, 0, 160);
      const start = header(sender).sequence;
      sender.translate(2, { ...source, sequence: 102, timestamp: 1320 }, 0, 160);
      expect((header(sender).sequence - start) & 0xffff).to.equal(2);
      sender.omit({ ...source, sequence: 103 });
      sender.translate(3, { ...source, sequence: 104, timestamp: 1640 }, 0, 160);
      expect((header(sender).sequence - start) & 0xffff).to.equal(3);
    });

    it('packets of the other stream during an interruption are no loss', () => {
      const sender = new RtpSender();
      const source = { ...emptyPacket(), ssrc: 7, sequence: 100, timestamp: 1000 };
      sender.translate(1, source, 0, 160);
      const start = header(sender).sequence;
      sender.interrupt();
      sender.translate(6, { ...source, sequence: 105, timestamp: 1800 }, 0, 160);
      expect((header(sender).sequence - start) & 0xffff).to.equal(1);
      expect(header(sender).marker).to.equal(true);
    });
  });

  describe('ticker', () => {
    function simulate(
      stalls: ReadonlyMap<number, number>,
      ticks: number,
      turns: readonly number[] = [],
    ): { times: number[]; ticker: Ticker } {
      let now = 0;
      let scheduled: { at: number; run: () => void } | undefined;
      const times: number[] = [];
      const ticker = new Ticker(
        {
          tick: () => {
            times.push(now);
            now += stalls.get(times.length) ?? 0;
          },
          wants: (turn) => turns.includes(turn),
        },
        {
          now: () => now,
          after: (milliseconds, run) => {
            scheduled = { at: now + milliseconds, run };
            return { cancel: () => undefined };
          },
        },
      );
      ticker.start();
      while (times.length < ticks && scheduled !== undefined) {
        const { at, run } = scheduled;
        now = Math.max(now, at) + 0.4; // timers are a little late
        run();
      }
      return { times, ticker };
    }

    it('does not drift', () => {
      const { times } = simulate(new Map(), 1000);
      expect(times.at(-1)).to.be.within(20_000, 20_001);
    });

    it('runs the requested turns, each 5 ms after the previous, and at the start of every frame', () => {
      const { times, ticker } = simulate(new Map(), 401, [1, 3]);
      expect(times.slice(-3).map((time) => Math.floor(time) % 20)).to.deep.equal([0, 5, 15]);
      expect(ticker.frame).to.equal(133);
    });

    it('catches up after a stall turn by turn, half a turn apart', () => {
      const { times, ticker } = simulate(new Map([[10, 70]]), 160, [1, 2, 3]);
      expect(times.at(-1)).to.be.within(800, 801);
      for (let index = 1; index < times.length; index += 1) {
        expect((times[index] as number) - (times[index - 1] as number)).to.be.at.least(2.4);
      }
      expect(ticker.figures.skippedFrames).to.equal(0);
    });

    it('keeps up with turns that take nearly all of their time', () => {
      const busy = new Map(Array.from({ length: 400 }, (_, index) => [index, 4]));
      const { times, ticker } = simulate(busy, 400, [1, 2, 3]);
      expect(times.at(-1)).to.be.within(2000, 2001);
      expect(ticker.figures.maxLatenessMs).to.be.below(1);
    });

    it('catches up after a short stall at double speed, never in a burst', () => {
      const { times, ticker } = simulate(new Map([[10, 70]]), 40);
      expect(times.at(-1)).to.be.within(800, 801);
      for (let index = 1; index < times.length; index += 1) {
        expect((times[index] as number) - (times[index - 1] as number)).to.be.at.least(9.9);
      }
      expect(ticker.figures.skippedFrames).to.equal(0);
      expect(ticker.figures.maxLatenessMs).to.be.above(40);
    });

    it('skips the frames of a long stall and stays in step with the clock', () => {
      const { ticker } = simulate(new Map([[10, 1000]]), 20);
      expect(ticker.figures.skippedFrames).to.be.within(45, 50);
      expect(Math.abs(ticker.latenessMs())).to.be.below(25);
    });
  });
});

describe('embedded media server: figures of a received stream', () => {
  /** Hears packets of 20 ms; each is its number and the milliseconds by which it comes late. */
  function heard(reception: Reception, packets: readonly (readonly [number: number, late: number])[], ssrc = 1): void {
    for (const [number, late] of packets) {
      const packet = { ...emptyPacket(), ssrc, sequence: number & 0xffff, timestamp: (number * 160) >>> 0 };
      reception.heard(packet, number * 20 + late);
    }
  }
  const from = (first: number, count: number): [number, number][] =>
    Array.from({ length: count }, (_, at) => [first + at, 0]);

  it('count missing packets, across the wrap of sequence numbers, and not those that come out of order', () => {
    const reception = new Reception();
    heard(reception, [...from(65_530, 4), [65_536, 0], [65_535, 0], ...from(65_540, 10)]);
    expect(reception.lost).to.equal(4);
    expect(reception.packets).to.equal(16);
  });

  it('keep the losses of a source that another one, or a restart of its numbers, follows', () => {
    const reception = new Reception();
    heard(reception, [...from(10, 2), [14, 0]]);
    heard(reception, [...from(500, 2), [503, 0]], 2);
    heard(reception, [...from(40_000, 2), [40_005, 0]], 2);
    expect(reception.lost).to.equal(2 + 1 + 3);
  });

  it('have no jitter for packets on time, whatever is lost or paused', () => {
    const reception = new Reception();
    heard(reception, [...from(0, 50), ...from(55, 50), ...from(5_000, 50)]);
    expect(reception.variance).to.deep.equal({ least: 0, greatest: 0 });
    expect(reception.meanInterval).to.be.within(20, 22);
  });

  it('have the variance of the intervals as jitter, without the first ten packets and those after an interruption', () => {
    const reception = new Reception();
    heard(reception, [...from(0, 8), [8, 300], [9, 0]]);
    expect(reception.variance.greatest).to.equal(0);
    const late = new Reception();
    heard(
      late,
      Array.from({ length: 1010 }, (_, number) => [number, number % 2 === 0 ? 0 : 5]),
    );
    expect(Math.sqrt(late.variance.greatest)).to.be.closeTo(5, 0.01);
    expect(Math.sqrt(late.variance.least)).to.be.closeTo(5, 0.01);
    late.interrupt();
    heard(late, [[1010, 300]]);
    expect(Math.sqrt(late.variance.greatest)).to.be.closeTo(5, 0.01);
  });
});

describe('embedded media server: RTCP', () => {
  it('answers a sender report of the RTP source with a receiver report, and no other source', async () => {
    const [server, phone, stranger] = [
      await bindUdp('127.0.0.1', 0),
      await bindUdp('127.0.0.1', 0),
      await bindUdp('127.0.0.2', 0),
    ];
    const reception = new Reception();
    const responder = new RtcpResponder(server, 0xabcd, reception);
    for (const sequence of [10, 11, 13]) reception.heard({ ...emptyPacket(), ssrc: 0x1234, sequence }, 0);
    responder.received('127.0.0.1');
    const report = Buffer.alloc(28);
    report.set([0x80, 200, 0, 6]);
    report.writeUInt32BE(0xcafe, 10);
    const { port } = server.address();
    stranger.send(report, port, '127.0.0.1');
    const answered = once(phone, 'message');
    phone.send(report, port, '127.0.0.1');
    const [answer] = (await answered) as [Buffer];
    expect(answer.readUInt16BE(0)).to.equal(0x81c9);
    expect(answer.readUInt32BE(4)).to.equal(0xabcd);
    expect(answer.readUInt32BE(8)).to.equal(0x1234);
    expect(answer.readUIntBE(13, 3)).to.equal(1); // lost
    expect(answer.readUInt32BE(16)).to.equal(13);
    expect(answer.readUInt32BE(24)).to.equal(0xcafe);
    phone.send(report, port, '127.0.0.1'); // too soon for another one
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(responder.answered).to.equal(1);

    expect(responder.reported).to.equal(undefined);
    const block = Buffer.alloc(24);
    block.writeUInt32BE(0xabcd, 0);
    block.writeIntBE(17, 5, 3); // lost
    block.writeUInt32BE(80, 12); // jitter: 10 ms
    const other = Buffer.alloc(24, 1);
    const receiverReport = Buffer.concat([Buffer.from([0x82, 201, 0, 13, 0, 0, 0x12, 0x34]), other, block]);
    stranger.send(Buffer.concat([receiverReport.subarray(0, 32), Buffer.alloc(24, 9)]), port, '127.0.0.1');
    phone.send(receiverReport.subarray(0, 40), port, '127.0.0.1'); // cut off
    phone.send(receiverReport, port, '127.0.0.1');
    await eventually(async () => expect(responder.reported).to.deep.equal({ lost: 17, jitter: 10 }));
    for (const socket of [server, phone, stranger]) socket.close();
  });
});
