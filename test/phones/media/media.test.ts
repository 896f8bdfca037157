import { expect } from 'chai';
import { decode, encode, type G711 } from './g711.ts';
import { parseEvent, parseRtp, serialiseEvent, serialiseRtp } from './rtp-packet.ts';
import { RtpStatistics, type RtpReport } from './rtp-statistics.ts';
import { answerMistakes, parseSdp, SdpError, versionMistakes, writeSdp } from './sdp.ts';
import { hasTone, level, strongest, ToneSource } from './tone.ts';

/** The statistics of packets with these sequence numbers, 20 ms apart, some of them changed. */
function feed(sequences: readonly number[], change: (sequence: number) => object = () => ({})): RtpReport {
  const statistics = new RtpStatistics();
  const payload = Buffer.alloc(160);
  for (const sequence of sequences) {
    const packet = {
      payloadType: 0,
      marker: false,
      sequence: sequence & 0xffff,
      timestamp: sequence * 160,
      ssrc: 1,
      payload,
    };
    statistics.receive({ ...packet, ...change(sequence) }, sequence * 20, true);
  }
  return statistics.report();
}

describe('media of the test phone', () => {
  it('encodes and decodes G.711 like the tables of the recommendation', () => {
    expect([...decode('PCMU', Uint8Array.of(0x00, 0x80, 0xff, 0x7f))]).to.deep.equal([-32124, 32124, 0, 0]);
    expect([...decode('PCMA', Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a))]).to.deep.equal([8, -8, 32256, -32256]);
    for (const codec of ['PCMU', 'PCMA'] satisfies G711[]) {
      const codes = Uint8Array.from({ length: 256 }, (_, code) => code).filter((code) => code !== 0x7f);
      expect([...encode(codec, decode(codec, codes))], codec).to.deep.equal([...codes]);
    }
  });

  it('distinguishes tones and recognises silence', () => {
    const tone = new ToneSource(440).next(1280);
    expect(hasTone(tone, 440)).to.equal(true);
    expect(hasTone(tone, 480)).to.equal(false);
    expect(strongest(tone)?.frequency).to.equal(440);
    const both = tone.map((sample, at) => sample + (new ToneSource(1000).next(1280)[at] ?? 0));
    expect([hasTone(both, 440), hasTone(both, 1000), hasTone(both, 700)]).to.deep.equal([true, true, false]);
    expect(strongest(new Int16Array(1280))).to.equal(undefined);
    expect(Math.round(level(tone))).to.be.within(5500, 5800);
  });

  it('reads and writes RTP and telephone-events', () => {
    const packet = {
      payloadType: 0,
      marker: true,
      sequence: 65535,
      timestamp: 4294967295,
      ssrc: 7,
      payload: Buffer.from('ab'),
    };
    expect(parseRtp(serialiseRtp(packet))).to.deep.equal(packet);
    expect(parseRtp(Buffer.from('no rtp at all'))).to.equal(undefined);
    expect(parseEvent(serialiseEvent({ digit: '#', end: true, duration: 800 }))).to.deep.equal({
      digit: '#',
      end: true,
      duration: 800,
    });
  });

  describe('statistics', () => {
    it('count loss, reordering and duplicates across the wrap of the sequence number', () => {
      expect(feed([65533, 65534, 65535, 65536, 65537])).to.include({
        received: 5,
        lost: 0,
        outOfOrder: 0,
        duplicates: 0,
      });
      expect(feed([65534, 65537])).to.include({ lost: 2 });
      expect(feed([10, 12, 11, 13, 13])).to.include({ lost: 0, outOfOrder: 1, duplicates: 1 });
    });

    it('detect a changed source and a timestamp jump', () => {
      expect(feed([1, 2, 3, 4], (sequence) => ({ ssrc: sequence < 3 ? 1 : 2 }))).to.include({
        ssrcChanges: 1,
        lost: 0,
      });
      expect(feed([1, 2, 3], (sequence) => (sequence === 3 ? { timestamp: 3 * 160 + 80 } : {}))).to.include({
        timestampJumps: 1,
      });
    });

    it('detect late packets', () => {
      const statistics = new RtpStatistics();
      const packet = { payloadType: 0, marker: false, ssrc: 1, payload: Buffer.alloc(160) };
      for (const [sequence, at] of [0, 20, 55, 60].entries()) {
        statistics.receive({ ...packet, sequence, timestamp: sequence * 160 }, at, true);
      }
      expect(statistics.report()).to.include({ late: 1, worstLateMs: 15 });
    });
  });

  describe('session descriptions', () => {
    const local = {
      sessionId: '1',
      version: 1,
      port: 4000,
      direction: 'sendrecv',
      codecs: ['PCMU', 'PCMA'],
      types: new Map(),
      telephoneEvent: 101,
    } as const;
    const text = writeSdp(local);

    it('are read back unchanged', () => {
      expect(parseSdp(text)).to.deep.include({
        port: 4000,
        direction: 'sendrecv',
        codecs: ['PCMU', 'PCMA'],
        telephoneEvent: 101,
      });
    });

    it('are refused when malformed', () => {
      const wrong: [string, RegExp][] = [
        [text.replaceAll('\r\n', '\n'), /CRLF/],
        [text.replace('s=-\r\n', ''), /line 3 must be s=/],
        [text.replace('t=0 0\r\n', ''), /no t=/],
        [text.replace('c=IN IP4 127.0.0.1\r\nt=0 0', 't=0 0\r\nc=IN IP4 127.0.0.1'), /order/],
        [text.replace('a=rtpmap:101 telephone-event/8000\r\n', ''), /101 has no rtpmap/],
        [text.replace('o=phone 1 1', 'o=phone x'), /origin/],
      ];
      for (const [bad, expected] of wrong) expect(() => parseSdp(bad)).to.throw(SdpError, expected);
    });

    it('are compared as offer and answer, and with their predecessors', () => {
      const answer = parseSdp(writeSdp({ ...local, direction: 'sendonly' }));
      expect(answerMistakes({ ...local, direction: 'sendonly' }, 'RTP/AVP', answer)).to.deep.equal([
        'sendonly cannot answer sendonly',
      ]);
      expect(answerMistakes({ ...local, codecs: ['PCMU'] }, 'RTP/AVP', answer)).to.deep.equal([
        'the answer names PCMA, which was not offered',
      ]);
      expect(versionMistakes(parseSdp(text), answer)).to.deep.equal(['the description changed, its version did not']);
    });
  });
});
