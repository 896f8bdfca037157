import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeG711,
  encodeG711,
  gainTable,
  PCMA,
  PCMU,
  transcodingTable,
} from '../../../runtime/embedded/media/audio/g711.ts';
import { parseToneScript, ToneGenerator, ToneScriptError } from '../../../runtime/embedded/media/audio/teletone.ts';
import { readWav, WavError } from '../../../runtime/embedded/media/audio/wav.ts';
import { wavHeader } from '../../../runtime/wav/index.ts';
import { amplitude } from './support/rtp-phone.ts';

function wav(encoding: number, channels: number, rate: number, bits: number, data: Buffer): Buffer {
  const header = wavHeader(0);
  header.writeUInt16LE(encoding, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt16LE(bits, 34);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

describe('embedded media server: audio', () => {
  it('decodes the corner values of G.711 (ITU-T G.711 tables 1a and 2a)', () => {
    expect([0x00, 0x7f, 0x80, 0xff].map((octet) => PCMU.toLinear[octet])).to.deep.equal([-32124, 0, 32124, 0]);
    expect([0x2a, 0x55, 0xaa, 0xd5].map((octet) => PCMA.toLinear[octet])).to.deep.equal([-32256, -8, 32256, 8]);
    expect([PCMU.silence, PCMA.silence]).to.deep.equal([0xff, 0xd5]);
  });

  it('encodes every decoded value to itself, and others within the error of their segment', () => {
    for (const codec of [PCMU, PCMA]) {
      for (let octet = 0; octet < 256; octet += 1) {
        const sample = codec.toLinear[octet] as number;
        expect(codec.toLinear[codec.fromLinear[sample & 0xffff] as number]).to.equal(sample);
      }
      let worst = 0;
      for (let sample = -32768; sample < 32768; sample += 1) {
        const error = Math.abs((codec.toLinear[codec.fromLinear[sample & 0xffff] as number] as number) - sample);
        worst = Math.max(worst, error / Math.max(16, Math.abs(sample) / 16 + 8));
      }
      expect(worst).to.be.at.most(1);
    }
  });

  it('transcodes without changing levels', () => {
    const table = transcodingTable(PCMU, PCMA) as Uint8Array;
    for (let octet = 0; octet < 256; octet += 1) {
      const from = PCMU.toLinear[octet] as number;
      const to = PCMA.toLinear[table[octet] as number] as number;
      expect(Math.abs(to - from)).to.be.at.most(Math.max(16, Math.abs(from) / 16));
    }
    expect(transcodingTable(PCMA, PCMA)).to.equal(undefined);
    expect(gainTable(PCMU, 0)).to.equal(undefined);
    expect(PCMU.toLinear[gainTable(PCMU, -2)?.[PCMU.fromLinear[16000] as number] as number]).to.be.within(7600, 8400);
  });

  it('encodes and decodes frames in place', () => {
    const samples = Int16Array.from({ length: 160 }, (_, index) => index * 100 - 8000);
    const octets = new Uint8Array(170);
    encodeG711(PCMA, samples, 160, octets, 10);
    const back = new Int16Array(160);
    expect(decodeG711(PCMA, octets, 10, 160, back)).to.equal(160);
    back.forEach((sample, index) => expect(Math.abs(sample - (samples[index] as number))).to.be.below(600));
  });

  it('reads PCM, mu-law and A-law, mono and stereo, 8 and 16 kHz', () => {
    const pcm = Buffer.alloc(8);
    [100, 300, -200, 400].forEach((sample, index) => pcm.writeInt16LE(sample, index * 2));
    expect([...readWav(wav(1, 1, 8000, 16, pcm))]).to.deep.equal([100, 300, -200, 400]);
    expect([...readWav(wav(1, 2, 8000, 16, pcm))]).to.deep.equal([200, 100]);
    expect([...readWav(wav(1, 1, 16000, 16, pcm), 16_000)]).to.deep.equal([100, 300, -200, 400]);
    expect([...readWav(wav(7, 1, 8000, 8, Buffer.from([0x80, 0xff])))]).to.deep.equal([32124, 0]);
    expect([...readWav(wav(6, 1, 8000, 8, Buffer.from([0xaa])))]).to.deep.equal([32256]);
  });

  it('names the unsupported property of a WAV file', () => {
    expect(() => readWav(Buffer.from('hello'))).to.throw(WavError, 'signature');
    expect(() => readWav(wav(3, 1, 8000, 32, Buffer.alloc(4)))).to.throw(WavError, 'encoding is 3');
    expect(() => readWav(wav(1, 6, 8000, 16, Buffer.alloc(4)))).to.throw(WavError, 'channels is 6');
    expect(() => readWav(wav(1, 1, 8000, 16, Buffer.alloc(4)).subarray(0, 36))).to.throw(
      WavError,
      'data chunk is missing',
    );
  });

  it('reads any bytes as WAV or refuses them (seeded fuzz)', () => {
    const base = wav(1, 2, 16000, 16, Buffer.alloc(64, 7));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { maxLength: 12 }),
        fc.nat(base.length),
        (edits, cut) => {
          const mutated = Buffer.from(base);
          for (const [at, octet] of edits) mutated[at] = octet;
          try {
            expect(readWav(mutated.subarray(0, cut)).length).to.be.at.most(64);
          } catch (error) {
            expect(error).to.be.instanceOf(WavError);
          }
        },
      ),
      { seed: 20261121, numRuns: 3000, interruptAfterTimeLimit: 2000 },
    );
  });

  it('plays tone scripts with lengths, pauses, loops, keys and levels', () => {
    const play = (script: string): Int16Array => {
      const generator = new ToneGenerator(parseToneScript(script));
      const samples = new Int16Array(80_000);
      return samples.subarray(0, generator.read(samples));
    };
    expect(play('%(500,0,800)').length).to.equal(4000);
    expect(play('%(200,100,440,480);loops=2').length).to.equal(4800);
    const two = play('%(200,100,440,480)');
    expect(amplitude(two.subarray(0, 1600), 440)).to.be.within(9900, 10_400);
    expect(amplitude(two.subarray(1600), 440)).to.equal(0);
    const key = play('v=-13;d=100;5');
    expect(key.length).to.equal(800);
    expect(amplitude(key, 770)).to.be.within(4900, 5300);
    expect(amplitude(key, 1336)).to.be.within(4900, 5300);
    const endless = new ToneGenerator(parseToneScript('%(100,0,440);loops=-1'));
    const frame = new Int16Array(160);
    for (let count = 0; count < 100; count += 1) expect(endless.read(frame)).to.equal(160);
  });

  it('parses any tone script or refuses it, and never plays endlessly in one read (seeded fuzz)', () => {
    const piece = fc.constantFrom(
      '%(',
      ')',
      ',',
      ';',
      'loops=',
      'v=',
      'd=',
      'w=',
      'l=',
      '-1',
      '0',
      '7',
      '500',
      '440',
      '*',
      '#',
      ' ',
      'x',
      '1e9',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        try {
          const frame = new Int16Array(160);
          expect(new ToneGenerator(parseToneScript(pieces.join(''))).read(frame)).to.be.at.most(160);
        } catch (error) {
          expect(error).to.be.instanceOf(ToneScriptError);
        }
      }),
      { seed: 20261121, numRuns: 3000, interruptAfterTimeLimit: 2000 },
    );
  });
});
