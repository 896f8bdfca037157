/**
 * The process that converts one sound file: `main.ts SOURCE TARGET MAX_SECONDS`. It prints a line of JSON: `Converted`, or
 * `{fault, message}`. A file that breaks a decoder breaks this process alone.
 */
import process from 'node:process';
import { convert } from './convert.ts';
import { SoundError } from './errors.ts';

const [source = '', target = '', maxSeconds = ''] = process.argv.slice(2);
let said: object;
try {
  said = await convert(source, target, Number(maxSeconds));
} catch (error) {
  const { fault, message } = error instanceof SoundError ? error : brokenBy(error);
  said = { fault, message };
}
process.stdout.write(JSON.stringify(said), () => process.exit());

/** Errors of the decoders, and of the file system. */
function brokenBy(error: unknown): SoundError {
  return new SoundError('broken', `cannot be decoded: ${error instanceof Error ? error.message : String(error)}`);
}
