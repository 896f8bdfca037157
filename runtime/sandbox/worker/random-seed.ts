/** Random seeds of runs. */
import { randomFillSync } from 'node:crypto';

const WORDS = 4;
/** Drawn in advance: one large draw takes as long as a small one. */
const drawn = new Int32Array(256 * WORDS);
let next = drawn.length;

/** An unpredictable seed for a run's random numbers: four 32-bit integers. */
export function randomSeed(): number[] {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  const seed = [...drawn.subarray(next, next + WORDS)];
  next += WORDS;
  return seed;
}
