import { extname } from 'node:path';
import { pathInside } from '../core/inside.ts';

/** A recording's name that leads out of the folder of recordings, or asks for a format that cannot be written. */
export class RecordingPathError extends Error {
  override readonly name = 'RecordingPathError';
}

/**
 * Where a recording goes: relative names are put into the server's directory of recordings.
 *
 * @param folder that directory
 * @param name its extension says the format: WAV, as also without one
 * @throws RecordingPathError when a relative name leads out of it, or for another format
 */
export function recordingPath(folder: string, name: string): string {
  const path = pathInside(folder, name);
  // Not WAV under another name: a stock server that lacks the format refuses it, and one that has it writes another one.
  if (!['', '.wav'].includes(extname(name).toLowerCase())) throw new RecordingPathError(`no format for ${name}`);
  if (path === undefined) throw new RecordingPathError(`a recording cannot be put at ${name}`);
  return path;
}
