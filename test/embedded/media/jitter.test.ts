import { expect } from 'chai';
import { ChannelAudio } from '../../../runtime/embedded/media/channel/audio.ts';
import { FRAME_SAMPLES } from '../../../runtime/embedded/media/audio/format.ts';
import { JitterBuffer } from '../../../runtime/embedded/media/rtp/jitter-buffer.ts';
import type { RtpSession } from '../../../runtime/embedded/media/rtp/session.ts';
import type { Ticker } from '../../../runtime/embedded/media/rtp/ticker.ts';

const FRAMES = 3000;
const FRAME_MS = 20;

/** Pseudo-random numbers from 0 to 1, the same in every run (a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Played {
  /** Numbers of the frames in play order. */
  readonly frames: number[];
  readonly arrived: number;
  /** Milliseconds from sending to playing, for each played frame. */
  readonly delays: number[];
}

/** A minute of packets over a network with delays up to `jitterMs` and a share of losses. */
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
    it(`plays ${share * 100} % of the packets in order, with ${jitterMs} ms of jitter and ${loss * 100} % loss`, () => {
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

describe('embedded media server: packet durations', () => {
  for (const ms of [10, 20, 30, 40, 60]) {
    it(`packets of ${ms} ms are played frame by frame, without a gap`, () => {
      const buffer = new JitterBuffer();
      const octets = new Uint8Array(FRAME_SAMPLES * 3);
      const ticker = { frame: 0 };
      const rtp = {
        buffer: () => undefined,
        read: (target: Int16Array) => {
          const length = buffer.pull(octets);
          target.set(octets.subarray(0, length));
          return length;
        },
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a reader uses of the two
      const audio = new ChannelAudio(rtp as unknown as RtpSession, ticker as unknown as Ticker);
      let sent = 0;
      let heard = 0;
      let wrong = 0;
      for (; ticker.frame < 500; ticker.frame += 1) {
        for (; (sent + 1) * ms <= ticker.frame * FRAME_MS; sent += 1) {
          const payload = Uint8Array.from({ length: ms * 8 }, (_, index) => (sent * ms * 8 + index) % 251);
          buffer.push(sent, payload, 0, payload.length);
        }
        const frame = audio.read();
        if (frame === undefined) continue;
        wrong += frame.filter((sample) => sample !== heard++ % 251).length;
      }
      expect(wrong, 'samples out of order').to.equal(0);
      expect(sent * ms * 8 - heard, 'samples not heard yet').to.be.at.most(800);
      expect(buffer.lost + buffer.dropped).to.equal(0);
    });
  }
});
