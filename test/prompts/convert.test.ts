import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { convert } from '../../runtime/prompts/convert/convert.ts';
import { SoundError } from '../../runtime/prompts/convert/errors.ts';
import { readWav } from '../../runtime/embedded/media/audio/wav.ts';
import { amplitudeAt, strongest } from '../phones/media/tone.ts';

const SOUNDS = join(import.meta.dirname, 'sounds');

/** A WAV file of one second: the sum of tones, in PCM of these bits (32: floating point). */
function wav(rate: number, channels: number, bits: number, ...tones: readonly number[]): Buffer {
  const width = (bits / 8) * channels;
  const header = Buffer.alloc(44);
  header.write('RIFF....WAVEfmt ', 0, 'latin1');
  header.writeUInt32LE(36 + rate * width, 4);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(bits === 32 ? 3 : 1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * width, 28);
  header.writeUInt16LE(width, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(rate * width, 40);
  const body = Buffer.alloc(rate * width);
  for (let frame = 0; frame < rate; frame += 1) {
    const value = tones.reduce((sum, tone) => sum + 0.25 * Math.sin((2 * Math.PI * tone * frame) / rate), 0);
    for (let channel = 0; channel < channels; channel += 1) {
      const at = frame * width + channel * (bits / 8);
      if (bits === 32) body.writeFloatLE(value, at);
      else if (bits === 8) body.writeUInt8(Math.round(128 + value * 127), at);
      else body.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), at, bits / 8);
    }
  }
  return Buffer.concat([header, body]);
}

describe('conversion of sound files', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'ringmaster-sounds-'))));
  after(() => rm(folder, { recursive: true }));

  const converted = async (file: string, maxSeconds = 60) => {
    const target = join(folder, 'target.wav');
    const facts = await convert(file, target, maxSeconds);
    return { ...facts, samples: readWav(await readFile(target)) };
  };
  const ofBytes = async (bytes: Uint8Array, maxSeconds?: number) => {
    const file = join(folder, 'source');
    await writeFile(file, bytes);
    return converted(file, maxSeconds);
  };
  const faultOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: unknown) => (error instanceof SoundError ? error.fault : String(error)),
    );

  for (const [file, kind, frequency] of [
    ['600.mp3', 'mp3', 600],
    ['700.opus', 'opus', 700],
    ['800.flac', 'flac', 800],
  ] as const) {
    it(`of ${kind} gives its whole sound at 8 kHz`, async () => {
      const { samples, milliseconds, kind: found } = await converted(join(SOUNDS, file));
      expect(found).to.equal(kind);
      expect(milliseconds).to.be.within(1150, 1300);
      expect(strongest(samples.subarray(3000, 4280))?.frequency).to.equal(frequency);
    });
  }

  for (const [rate, channels, bits] of [
    [8000, 1, 16],
    [8000, 2, 8],
    [11_025, 1, 24],
    [44_100, 2, 16],
    [48_000, 1, 32],
  ] as const) {
    it(`of WAV takes ${bits} bits, ${channels} channels and ${rate} Hz`, async () => {
      const { samples, milliseconds } = await ofBytes(wav(rate, channels, bits, 1000));
      expect(milliseconds).to.equal(1000);
      expect(samples).to.have.length(8000);
      expect(strongest(samples.subarray(3000, 4280))?.frequency).to.equal(1000);
      expect(amplitudeAt(samples.subarray(3000, 4280), 1000)).to.be.within(7900, 8500);
    });
  }

  it('keeps speech up to 3.4 kHz, and has no aliases of what is above 4 kHz', async () => {
    const { samples } = await ofBytes(wav(48_000, 1, 16, 3300, 6000));
    const window = samples.subarray(3000, 4280);
    expect(amplitudeAt(window, 3300)).to.be.within(7700, 8500);
    expect(amplitudeAt(window, 2000)).to.be.below(5);
  });

  it('names what is wrong with a file', async () => {
    const mp3 = await readFile(join(SOUNDS, '600.mp3'));
    const noise = Buffer.from(
      Array.from({ length: 100_000 }, (_, index) => (index * 7919 + (index >> 3) * 104_729) & 0xff),
    );
    const faults = {
      text: await faultOf(ofBytes(Buffer.from('<html>no sound</html>'))),
      nothing: await faultOf(ofBytes(new Uint8Array())),
      'noise that says it is MP3': await faultOf(ofBytes(Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), noise]))),
      'noise that says it is FLAC': await faultOf(ofBytes(Buffer.concat([Buffer.from('fLaC'), noise]))),
      'a WAV without sound': await faultOf(ofBytes(wav(8000, 1, 16, 440).subarray(0, 44))),
      'an unknown encoding': await faultOf(ofBytes(wav(8000, 1, 16, 440).fill(85, 20, 22))),
      'a chunk of 4 GB': await faultOf(ofBytes(wav(8000, 1, 16, 440).fill(255, 16, 20))),
      'too many seconds': await faultOf(ofBytes(mp3, 1)),
    };
    expect(faults).to.deep.equal({
      text: 'unknown_kind',
      nothing: 'unknown_kind',
      'noise that says it is MP3': faults['noise that says it is MP3'],
      'noise that says it is FLAC': 'empty',
      'a WAV without sound': 'empty',
      'an unknown encoding': 'broken',
      'a chunk of 4 GB': 'empty',
      'too many seconds': 'too_long',
    });
    expect(faults['noise that says it is MP3']).to.be.oneOf(['broken', 'empty']);
  });
});
