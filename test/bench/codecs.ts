import { frameSamples, type Rate } from '../../runtime/embedded/media/audio/format.ts';
import { decodeG711, encodeG711, PCMU } from '../../runtime/embedded/media/audio/g711.ts';
import { G722Voice } from '../../runtime/embedded/media/audio/g722.ts';
import { OpusVoice } from '../../runtime/embedded/media/audio/opus.ts';
import { RateConverter } from '../../runtime/embedded/media/audio/rate-converter.ts';
import type { Benchmark } from './support/report.ts';

const WARM_UP = 500;
const FRAMES = 2000;

/** Processor time of the codecs and filters of the media server, which calls with two codecs and recordings need. */
export const codecs: Benchmark = {
  title: `codecs: processor time for a frame of 20 ms, mean of ${FRAMES}`,
  async run() {
    const opus = await OpusVoice.open(new Map([['useinbandfec', '1']]));
    const [wide, narrow] = [speech(16_000), speech(8000)];
    const octets = new Uint8Array(1500);
    const samples = new Int16Array(1920);
    const of = (what: string, work: (frame: number) => void) => ({ what: `${what}, µs`, figure: microseconds(work) });
    const packets = wide.map((frame) => octets.slice(0, opus.encode(frame, octets, 0)));
    const at = <T>(list: readonly T[], frame: number): T => list[frame % list.length] as T;
    const g722 = new G722Voice();
    const octets722 = wide.map((frame) => octets.slice(0, g722.encode(frame, octets, 0)));
    const [up, down] = [new RateConverter(), new RateConverter()];
    const figures = [
      of('Opus: encode', (frame) => opus.encode(at(wide, frame), octets, 0)),
      of('Opus: decode', (frame) => opus.decode(at(packets, frame), samples)),
      of('G.722: encode', (frame) => g722.encode(at(wide, frame), octets, 0)),
      of('G.722: decode', (frame) => g722.decode(at(octets722, frame), samples)),
      of('G.711: encode', (frame) => encodeG711(PCMU, at(narrow, frame), 160, octets, 0)),
      of('G.711: decode', () => decodeG711(PCMU, octets, 0, 160, samples)),
      of('8 to 16 kHz', (frame) => up.convert(at(narrow, frame), 16_000)),
      of('16 to 8 kHz', (frame) => down.convert(at(wide, frame), 8000)),
    ];
    opus.free();
    return figures;
  },
};

/** Two seconds that sound like a voice: a glide with overtones, syllables, some noise. */
function speech(rate: Rate): Int16Array[] {
  let phase = 0;
  let noise = 1;
  const size = frameSamples(rate);
  return Array.from({ length: 100 }, (_, frame) =>
    Int16Array.from({ length: size }, (_each, index) => {
      const now = (frame * size + index) / rate;
      phase += (2 * Math.PI * (150 + 40 * Math.sin(2 * Math.PI * now))) / rate;
      noise = (noise * 1_103_515_245 + 12_345) % 2 ** 31;
      const voice = Math.sin(phase) + 0.5 * Math.sin(5 * phase) + 0.2 * Math.sin(13 * phase);
      return Math.round((5000 * voice + 800 * (noise / 2 ** 30 - 1)) * (0.5 + 0.5 * Math.sin(8 * Math.PI * now)));
    }),
  );
}

function microseconds(work: (frame: number) => void): number {
  for (let frame = 0; frame < WARM_UP; frame += 1) work(frame);
  const before = process.cpuUsage();
  for (let frame = 0; frame < FRAMES; frame += 1) work(frame);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / FRAMES;
}
