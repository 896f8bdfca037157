import { isAbsolute, join } from 'node:path';
import type { MediaCore } from '../core/media-core.ts';

/** Where a recording goes: relative names are put into the server's directory of recordings. */
export function recordingPath(core: MediaCore, name: string): string {
  return isAbsolute(name) ? name : join(core.recordings, name);
}
