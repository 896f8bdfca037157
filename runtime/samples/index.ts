/** Arithmetic on sampled sound. */
export { bessel } from './bessel.ts';
export { resample, resampleInPieces, Resampler } from './resampler.ts';
