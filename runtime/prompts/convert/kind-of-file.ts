/** The kind of a sound file, by its first bytes. */
import { open } from 'node:fs/promises';
import { SoundError } from './errors.ts';
import { HEAD_BYTES, kindOf, type SoundKind } from './kinds.ts';

/** @throws SoundError for a file of any other kind */
export async function soundKindOf(path: string): Promise<SoundKind> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const kind = kindOf(buffer.subarray(0, bytesRead));
    if (kind === undefined) throw new SoundError('unknown_kind', 'is no WAV, MP3, Opus in Ogg, or FLAC');
    return kind;
  } finally {
    await file.close();
  }
}
