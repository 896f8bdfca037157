/** The hold music. */
import { type Rate, SAMPLE_RATE } from './format.ts';
import { wavHeader } from '../../../wav/index.ts';

/** A slow figure over four chords, two bars each; semitones above A3. Composed for this project. */
const CHORDS: readonly (readonly number[])[] = [
  [0, 4, 7, 12],
  [-3, 0, 4, 9],
  [-7, -3, 0, 5],
  [-5, -1, 2, 7],
];
const NOTE_SECONDS = 0.375;
const NOTES_PER_CHORD = 8;
const LEVEL = 5200;

/** Generates the hold music: about 12 s, silent at both ends so that it can be repeated. @param rate samples a second */
export function makeHoldMusic(rate: Rate = SAMPLE_RATE): Int16Array {
  const noteSamples = Math.round(NOTE_SECONDS * rate);
  const music = new Int16Array(noteSamples * NOTES_PER_CHORD * CHORDS.length);
  CHORDS.forEach((chord, bar) => {
    for (let note = 0; note < NOTES_PER_CHORD; note += 1) {
      const step = chord[[0, 1, 2, 3, 2, 1, 2, 1][note] as number] as number;
      const radians = (2 * Math.PI * 220 * 2 ** (step / 12)) / rate;
      const start = (bar * NOTES_PER_CHORD + note) * noteSamples;
      for (let index = 0; index < noteSamples; index += 1) {
        // A plucked envelope: quick rise, slow fall, silent at both ends.
        const envelope = Math.min(1, index / (rate / 50)) * (1 - index / noteSamples) ** 2;
        music[start + index] = Math.round(
          LEVEL * envelope * (Math.sin(radians * index) + 0.3 * Math.sin(2 * radians * index)),
        );
      }
    }
  });
  return music;
}

/** The hold music as a WAV file. */
export function holdMusicFile(): Buffer {
  const music = makeHoldMusic();
  return Buffer.concat([wavHeader(music.length), Buffer.from(music.buffer, music.byteOffset, music.byteLength)]);
}
