/** The audio formats of the server. */

/** Sample rates of a leg, Hz: that of G.711, and wideband. */
export type Rate = 8000 | 16_000;

/** The rate of G.711. */
export const SAMPLE_RATE = 8000;

export const WIDEBAND_RATE = 16_000;

/** Packetization interval in milliseconds (RFC 3551 section 4.5 default). */
export const FRAME_MS = 20;

/** Samples of one frame of G.711. */
export const FRAME_SAMPLES = (SAMPLE_RATE * FRAME_MS) / 1000;

/** Samples of one frame at the highest rate. */
export const MOST_FRAME_SAMPLES = (WIDEBAND_RATE * FRAME_MS) / 1000;

/** Samples of one frame. */
export function frameSamples(rate: Rate): number {
  return rate === SAMPLE_RATE ? FRAME_SAMPLES : MOST_FRAME_SAMPLES;
}

/** The rate of a frame, by its length. */
export function rateOf(frame: Int16Array): Rate {
  return frame.length === FRAME_SAMPLES ? SAMPLE_RATE : WIDEBAND_RATE;
}

/** One frame of silence. */
export function silentFrame(rate: Rate): Int16Array {
  return rate === SAMPLE_RATE ? NARROW_SILENCE : WIDE_SILENCE;
}

const NARROW_SILENCE = new Int16Array(FRAME_SAMPLES);
const WIDE_SILENCE = new Int16Array(MOST_FRAME_SAMPLES);
