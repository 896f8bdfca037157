/** Arithmetic on sampled sound. */
export { resample, resampleInPieces, Resampler } from './resampler.ts';
