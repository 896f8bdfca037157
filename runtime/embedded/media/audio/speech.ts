/** Speech synthesis by espeak-ng. */
import { resampleInPieces } from '../../../samples/index.ts';
import type { RunProgram } from '../../thread/run-program.ts';
import type { Rate } from './format.ts';
import { readWavSound, WavError } from './wav.ts';

/** The speech synthesizer of Debian's package of the same name. */
const PROGRAM = 'espeak-ng';

/** Longest text; the rest is not spoken. */
const MAX_CHARACTERS = 10_000;

/** Largest number of octets of speech: about three minutes at espeak-ng's 22 kHz. */
const MAX_BYTES = 8 * 1_048_576;

/** Octets of a WAV file without sound. */
const HEADER_BYTES = 44;

/** Limit for the synthesizer, ms; it is then ended. */
const TIMEOUT_MS = 15_000;

/**
 * Speaks a text with espeak-ng.
 *
 * @param voice a language of espeak-ng (`en`, `de`, `en-gb`), or a tag that begins with one (`de-AT`); other values
 *   give English
 * @param run runs the synthesizer
 * @param signal ends the synthesizer
 * @param rate samples a second of the result
 * @returns samples, none for a text without words; undefined when espeak-ng is not installed or cannot speak
 */
export async function synthesize(
  run: RunProgram,
  voice: string,
  text: string,
  rate: Rate,
  signal: AbortSignal,
): Promise<Int16Array | undefined> {
  const input = text.slice(0, MAX_CHARACTERS);
  let spoken: Uint8Array | undefined;
  for (const language of languages(voice)) {
    // The next voice is only tried when this one is missing.
    // oxlint-disable-next-line eslint/no-await-in-loop
    spoken = await run(
      {
        program: PROGRAM,
        args: ['-v', language, '--stdin', '--stdout'],
        input,
        maxBytes: MAX_BYTES,
        timeoutMs: TIMEOUT_MS,
      },
      signal,
    );
    if (spoken !== undefined || signal.aborted) break;
  }
  if (spoken === undefined) return undefined;
  if (spoken.length <= HEADER_BYTES) return new Int16Array(0);
  try {
    const sound = readWavSound(withLength(Buffer.from(spoken.buffer, spoken.byteOffset, spoken.length)));
    return await resampleInPieces(sound.samples, sound.rate, rate);
  } catch (error) {
    if (error instanceof WavError) return undefined;
    throw error;
  }
}

/** Voices to try: the tag, its language, English. */
function languages(voice: string): ReadonlySet<string> {
  const tag = voice.toLowerCase();
  const [language = ''] = tag.split('-');
  return new Set([tag, language, 'en'].filter((each) => /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/.test(each)));
}

/** Adds the lengths to the header of a WAV file, which lacks them when written to a pipe. */
function withLength(wav: Buffer): Buffer {
  const data = wav.indexOf('data', 12, 'latin1');
  if (data > 0) wav.writeUInt32LE(wav.length - data - 8, data + 4);
  return wav;
}
