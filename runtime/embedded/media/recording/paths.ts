import { extname } from 'node:path';
import { pathInside } from '../core/inside.ts';

/** A recording's name is outside of the folder of recordings, or has an unsupported format. */
export class RecordingPathError extends Error {
  override readonly name = 'RecordingPathError';
}

/**
 * The path of a recording. Relative names are in the server's folder of recordings.
 *
 * @param folder that folder
 * @param name name with the extension `.wav` or none
 * @throws RecordingPathError when a relative name is outside of the folder, or for another extension
 */
export function recordingPath(folder: string, name: string): string {
  const path = pathInside(folder, name);
  // FreeSWITCH refuses an extension whose format it lacks, so WAV data is never written under another extension.
  if (!['', '.wav'].includes(extname(name).toLowerCase())) {
    throw new RecordingPathError(`recording ${name}: the extension must be .wav or none`);
  }
  if (path === undefined) throw new RecordingPathError(`recording ${name}: the path is outside of ${folder}`);
  return path;
}
