import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Rate } from '../../../runtime/embedded/media/audio/format.ts';
import { G722Decoder, G722Encoder } from '../../../runtime/embedded/media/audio/g722.ts';
import { opusMilliseconds, OpusVoice } from '../../../runtime/embedded/media/audio/opus.ts';
import { RateConverter } from '../../../runtime/embedded/media/audio/rate-converter.ts';
import { readDescription } from '../../../runtime/embedded/media/sip/sdp.ts';
import { resample } from '../../../runtime/samples/index.ts';

const sine = (frequency: number, rate: number, samples: number): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) => Math.round(8000 * Math.sin((2 * Math.PI * frequency * at) / rate)));

/** Amplitude of one frequency. */
function amplitude(samples: Int16Array, frequency: number, rate: number): number {
  let real = 0;
  let imaginary = 0;
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.sin((2 * Math.PI * frequency * at) / rate);
    imaginary += sample * Math.cos((2 * Math.PI * frequency * at) / rate);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

const decibels = (level: number): number => 20 * Math.log10(level / 8000);

/** Half a second of a tone in frames, converted one by one; without the first 100 ms. */
function throughConverter(frequency: number, from: Rate, to: Rate): Int16Array {
  const converter = new RateConverter();
  const input = sine(frequency, from, from / 2);
  const output = new Int16Array(to / 2);
  const [step, made] = [from / 50, to / 50];
  for (let frame = 0; frame < 25; frame += 1)
    output.set(converter.convert(input.subarray(frame * step, (frame + 1) * step), to), frame * made);
  return output.subarray(to / 10);
}

describe('wideband: rates', () => {
  it('frames change their rate without loss up to 3.4 kHz, and without aliases and images', () => {
    for (const frequency of [300, 1000, 3400]) {
      expect(decibels(amplitude(throughConverter(frequency, 16_000, 8000), frequency, 8000))).to.be.within(-0.5, 0.5);
      expect(decibels(amplitude(throughConverter(frequency, 8000, 16_000), frequency, 16_000))).to.be.within(-0.5, 0.5);
    }
    expect(decibels(amplitude(throughConverter(6000, 16_000, 8000), 2000, 8000))).to.be.below(-60);
    expect(decibels(amplitude(throughConverter(1000, 8000, 16_000), 7000, 16_000))).to.be.below(-60);
  });

  it('whole sounds change their rate by a filter', () => {
    for (const rate of [22_050, 44_100, 48_000]) {
      const kept = resample(sine(6500, rate, rate), rate, 16_000);
      expect(kept).to.have.length(16_000);
      expect(decibels(amplitude(kept.subarray(1600), 6500, 16_000)), `${rate} Hz`).to.be.within(-0.5, 0.5);
      expect(decibels(amplitude(resample(sine(5000, rate, rate), rate, 8000), 3000, 8000))).to.be.below(-60);
    }
  });
});

describe('wideband: G.722', () => {
  /** Tones, noise, silence and full scale, the same on every machine. */
  const test = Int16Array.from({ length: 32_000 }, (_, at) => {
    const level = [8000, 32_767, 300, 20_000][at >> 13] as number;
    const noise = ((at * 7919 + (at >> 3) * 104_729) % 2001) / 1000 - 1;
    return Math.max(-32_768, Math.min(32_767, Math.trunc(level * (((at * at) % 977) / 800 - 0.6 + 0.6 * noise))));
  });

  const encoded = (samples: Int16Array): Uint8Array => {
    const octets = new Uint8Array(samples.length / 2);
    new G722Encoder().encode(samples, octets, 0);
    return octets;
  };

  it('gives the octets and samples of a reference implementation (spandsp 3.0)', () => {
    const octets = encoded(test);
    const samples = new Int16Array(test.length);
    expect(new G722Decoder().decode(octets, samples)).to.equal(test.length);
    const hash = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex').slice(0, 16);
    expect(hash(octets)).to.equal('004900383f22175a');
    expect(hash(new Uint8Array(samples.buffer))).to.equal('57237a1375b85b58');
  });

  it('carries sound up to 7 kHz', () => {
    for (const frequency of [200, 3000, 6000, 7000]) {
      const samples = new Int16Array(16_000);
      new G722Decoder().decode(encoded(sine(frequency, 16_000, 16_000)), samples);
      expect(decibels(amplitude(samples.subarray(1600), frequency, 16_000)), `${frequency} Hz`).to.be.within(-2, 1);
    }
  });
});

describe('wideband: Opus', () => {
  const open = async (wanted: Readonly<Record<string, string>> = {}): Promise<OpusVoice> =>
    OpusVoice.open(new Map(Object.entries(wanted)));
  const packets = (voice: OpusVoice, frames: readonly (Int16Array | undefined)[]): Uint8Array[] =>
    frames.map((frame) => {
      const target = new Uint8Array(1500);
      return target.slice(0, voice.encode(frame, target, 0));
    });
  const tone = (frequency: number, frames: number): Int16Array[] => {
    const whole = sine(frequency, 16_000, frames * 320);
    return Array.from({ length: frames }, (_, at) => whole.subarray(at * 320, (at + 1) * 320));
  };

  it('carries a tone of 6 kHz, in packets of 20 ms', async () => {
    const voice = await open();
    const heard = new Int16Array(50 * 320);
    for (const [at, packet] of packets(voice, tone(6000, 50)).entries()) {
      expect(opusMilliseconds(packet, 0, packet.length)).to.equal(20);
      expect(voice.decode(packet, heard.subarray(at * 320))).to.equal(320);
    }
    expect(amplitude(heard.subarray(6400), 6000, 16_000)).to.be.above(4000);
    voice.free();
  });

  it('fills the gap of a lost packet by the copy in the next one, and without it by its own guess', async () => {
    const [voice, ear] = [await open({ useinbandfec: '1' }), await open()];
    const speech = Array.from({ length: 30 }, (_, at) =>
      Int16Array.from({ length: 320 }, (_each, index) => {
        const now = (at * 320 + index) / 16_000;
        return Math.round(4000 * Math.sin(2 * Math.PI * 180 * now) + 3000 * Math.sin(2 * Math.PI * 900 * now));
      }),
    );
    const sent = packets(voice, speech);
    const heard = new Int16Array(1920);
    for (const packet of sent.slice(0, 20)) ear.decode(packet, heard);
    expect(ear.conceal(sent[21], heard)).to.equal(320);
    expect(amplitude(heard.subarray(0, 320), 900, 16_000)).to.be.above(500);
    ear.decode(sent[21] as Uint8Array, heard);
    expect(ear.conceal(undefined, heard)).to.equal(320);
    expect(amplitude(heard.subarray(0, 320), 900, 16_000)).to.be.above(300);
    voice.free();
    ear.free();
  });

  it('sends hardly anything in silence to a far end that wants pauses, and less where it wants less', async () => {
    const [pausing, talking, thrifty] = [
      await open({ usedtx: '1' }),
      await open(),
      await open({ maxaveragebitrate: '8000' }),
    ];
    const silence = Array.from({ length: 100 }, () => undefined);
    const count = (sent: readonly Uint8Array[]): number => sent.filter((packet) => packet.length > 0).length;
    expect(count(packets(pausing, silence))).to.be.below(20);
    expect(count(packets(talking, silence))).to.equal(100);
    const octets = (sent: readonly Uint8Array[]): number => sent.reduce((sum, { length }) => sum + length, 0);
    expect(octets(packets(thrifty, tone(700, 100)))).to.be.below(octets(packets(talking, tone(700, 100))) / 2);
    for (const voice of [pausing, talking, thrifty]) voice.free();
  });

  it('survives any octets (seeded fuzz)', async () => {
    const voice = await open();
    const heard = new Int16Array(1920);
    const good = packets(voice, tone(700, 5)).at(-1) as Uint8Array;
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 400 }), (octets) => {
        expect(opusMilliseconds(octets, 0, octets.length)).to.be.within(0, 120);
        expect(voice.decode(octets, heard)).to.be.within(0, 1920);
        voice.conceal(octets, heard);
      }),
      { seed: 42, numRuns: 300 },
    );
    expect(voice.decode(good, heard)).to.equal(320);
    voice.free();
  });
});

describe('wideband: descriptions', () => {
  const described = (formats: string, ...lines: readonly string[]) =>
    readDescription(
      [
        'v=0',
        'o=- 1 1 IN IP4 127.0.0.1',
        's=-',
        'c=IN IP4 127.0.0.1',
        't=0 0',
        `m=audio 4000 RTP/AVP ${formats}`,
        ...lines.map((line) => `a=${line}`),
        '',
      ].join('\r\n'),
    )?.audio;
  const names = (...given: Parameters<typeof described>): string[] | undefined =>
    described(...given)?.codecs.map(({ codec, payloadType }) => `${codec.name} ${payloadType}`);

  it('codecs come in the server’s order, with the far end’s payload types, each once', () => {
    expect(
      names('0 96 9 97 8', 'rtpmap:96 OPUS/48000/2', 'rtpmap:97 opus/48000/2', 'rtpmap:9 G722/16000'),
    ).to.deep.equal(['opus 96', 'G722 9', 'PCMU 0', 'PCMA 8']);
    expect(names('102 101', 'rtpmap:101 telephone-event/8000')).to.deep.equal([]);
    expect(names('96', 'rtpmap:96 opus/16000/2')).to.deep.equal([]);
    expect(names('200 0', 'rtpmap:200 opus/48000/2')).to.deep.equal(['PCMU 0']);
  });

  it('odd parameters of Opus are taken for none, and make an encoder all the same', async () => {
    for (const fmtp of [
      '',
      'fmtp:96',
      'fmtp:96 ;;=;x',
      'fmtp:96 maxaveragebitrate=-5;useinbandfec=yes;cbr',
      'ptime:x',
    ]) {
      const audio = described('96', 'rtpmap:96 opus/48000/2', ...(fmtp === '' ? [] : [fmtp]), 'ptime:7', 'maxptime:0');
      const [used] = audio?.codecs ?? [];
      expect(used?.codec.name, fmtp).to.equal('opus');
      const voice = await OpusVoice.open(used?.parameters ?? new Map());
      const packet = new Uint8Array(1500);
      expect(voice.encode(sine(700, 16_000, 320), packet, 0), fmtp).to.be.above(3);
      voice.free();
    }
  });

  it('telephone-events have the clock of the codec, or another rather than none', () => {
    const lines = ['rtpmap:96 opus/48000/2', 'rtpmap:101 telephone-event/8000', 'rtpmap:110 telephone-event/48000'];
    expect(described('96 101 110', ...lines)?.telephoneEvent).to.deep.equal({ payloadType: 110, clockRate: 48_000 });
    expect(described('96 101', ...lines)?.telephoneEvent).to.deep.equal({ payloadType: 101, clockRate: 8000 });
    expect(described('0 101 110', ...lines)?.telephoneEvent).to.deep.equal({ payloadType: 101, clockRate: 8000 });
  });
});
