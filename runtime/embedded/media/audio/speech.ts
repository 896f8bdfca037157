import { spawn } from 'node:child_process';
import { readWav, WavError } from './wav.ts';

/** The speech synthesizer of Debian's package of the same name. */
const PROGRAM = 'espeak-ng';

/** Longest text spoken. */
const MAX_CHARACTERS = 10_000;

/** Octets of speech kept at most: about three minutes at espeak-ng's 22 kHz. */
const MAX_BYTES = 8 * 1_048_576;

/** A synthesizer that takes longer is ended. */
const TIMEOUT_MS = 15_000;

/**
 * Speaks a text with espeak-ng.
 *
 * @param voice a language of espeak-ng (`en`, `de`, `en-gb`), or a tag that begins with one (`de-AT`); anything else speaks
 *   English
 * @param signal ends the synthesizer
 * @returns samples at 8 kHz; undefined when espeak-ng is not installed or cannot speak
 */
export async function synthesize(voice: string, text: string, signal: AbortSignal): Promise<Int16Array | undefined> {
  let spoken: Buffer | undefined;
  for (const language of languages(voice)) {
    // The next one is for when there is no such voice.
    // oxlint-disable-next-line eslint/no-await-in-loop
    spoken = await run(['-v', language, '--stdin', '--stdout'], text.slice(0, MAX_CHARACTERS), signal);
    if (spoken !== undefined || signal.aborted) break;
  }
  if (spoken === undefined) return undefined;
  try {
    return readWav(spoken);
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

async function run(args: readonly string[], input: string, signal: AbortSignal): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const child = spawn(PROGRAM, args, { stdio: ['pipe', 'pipe', 'ignore'], signal, timeout: TIMEOUT_MS });
  const pieces: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > MAX_BYTES) child.kill();
    else pieces.push(piece);
  });
  child.on('error', () => resolve(undefined)); // not installed, or ended by the signal
  child.stdin.on('error', () => resolve(undefined));
  child.on('close', (code) => resolve(code === 0 && size > 44 ? withLength(Buffer.concat(pieces)) : undefined));
  child.stdin.end(input);
  return await promise;
}

/** A WAV file written to a pipe has no lengths in its header. */
function withLength(wav: Buffer): Buffer {
  const data = wav.indexOf('data', 12, 'latin1');
  if (data > 0) wav.writeUInt32LE(wav.length - data - 8, data + 4);
  return wav;
}
