import { pathInside } from '../core/inside.ts';
import type { MediaCore } from '../core/media-core.ts';

/** A recording's name that leads out of the folder of recordings. */
export class RecordingPathError extends Error {
  override readonly name = 'RecordingPathError';
}

/**
 * Where a recording goes: relative names are put into the server's directory of recordings.
 *
 * @throws RecordingPathError when a relative name leads out of it
 */
export function recordingPath(core: MediaCore, name: string): string {
  const path = pathInside(core.recordings, name);
  if (path === undefined) throw new RecordingPathError(`a recording cannot be put at ${name}`);
  return path;
}
