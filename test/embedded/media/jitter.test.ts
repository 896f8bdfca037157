import { expect } from 'chai';
import { FRAME_SAMPLES } from '../../../runtime/embedded/media/audio/format.ts';
import { JitterBuffer } from '../../../runtime/embedded/media/rtp/jitter-buffer.ts';

const FRAMES = 3000;
const FRAME_MS = 20;

/** Numbers from 0 to 1 that are the same in every run (a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Played {
  /** Numbers of the frames in the order in which they were played. */
  readonly frames: number[];
  readonly arrived: number;
  /** Milliseconds from sending to playing, of each frame played. */
  readonly delays: number[];
}

/** A minute of packets over a network that delays each by up to `jitterMs` and loses a share of them. */
function play(jitterMs: number, loss: number, seed: number): Played {
  const random = seeded(seed);
  const arrivals = Array.from({ length: FRAMES }, (_, frame) => ({ frame, at: frame * FRAME_MS + random() * jitterMs }))
    .filter(() => random() >= loss)
    .toSorted((one, other) => one.at - other.at);
  const buffer = new JitterBuffer();
  const target = new Uint8Array(FRAME_SAMPLES * 3);
  const played: Played = { frames: [], arrived: arrivals.length, delays: [] };
  let next = 0;
  for (let now = 0; now < (FRAMES + 20) * FRAME_MS; now += FRAME_MS) {
    for (; (arrivals[next]?.at ?? Number.POSITIVE_INFINITY) <= now; next += 1) {
      const frame = arrivals[next]?.frame as number;
      const payload = new Uint8Array(FRAME_SAMPLES);
      payload[0] = frame >> 8;
      payload[1] = frame & 0xff;
      buffer.push(frame & 0xffff, payload, 0, payload.length);
    }
    if (buffer.pull(target) === 0) continue;
    const frame = ((target[0] as number) << 8) | (target[1] as number);
    played.frames.push(frame);
    played.delays.push(now - frame * FRAME_MS);
  }
  return played;
}

describe('embedded media server: jitter buffer on a bad network', () => {
  for (const [jitterMs, loss, share, delayMs] of [
    [0, 0, 1, 45],
    [15, 0, 1, 60],
    [60, 0, 0.97, 125],
    [60, 0.05, 0.97, 125],
  ] as const) {
    it(`plays ${share * 100} % of what arrives in order, with ${jitterMs} ms of jitter and ${loss * 100} % lost`, () => {
      for (const seed of [1, 2, 3]) {
        const { frames, arrived, delays } = play(jitterMs, loss, seed);
        expect(frames, 'order').to.deep.equal(frames.toSorted((one, other) => one - other));
        expect(new Set(frames).size, 'each once').to.equal(frames.length);
        expect(frames.length / arrived, 'share played').to.be.at.least(share);
        const mean = delays.reduce((sum, each) => sum + each, 0) / delays.length;
        expect(mean, 'ms of delay').to.be.below(delayMs);
      }
    });
  }
});
