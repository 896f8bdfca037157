import { randomFillSync } from 'node:crypto';

const WORDS = 4;
/** Drawn ahead, for one draw takes as long as one word. */
const drawn = new Int32Array(256 * WORDS);
let next = drawn.length;

/** A seed for the random numbers of one run: four 32-bit integers that nobody can foresee. */
export function randomSeed(): number[] {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  const seed = [...drawn.subarray(next, next + WORDS)];
  next += WORDS;
  return seed;
}
