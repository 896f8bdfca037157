/** Sounds in the media server's notation. */
import type { PlaySource } from '../../language/index.ts';
import { spokenSource } from '../../media/index.ts';

/** Voice of the speech engine when neither voice nor language is named. */
export const DEFAULT_VOICE = 'en';

/** A source in the media server's notation. */
export function sourceUrl(source: PlaySource): string {
  if ('file' in source) return source.file;
  if ('text' in source) return spokenSource(source.text, source.language ?? DEFAULT_VOICE);
  if ('tone' in source) return `tone_stream://${source.tone}`;
  return `silence_stream://${Math.max(1, Math.round(source.silenceMs))}`;
}
