/** A text to be spoken, as a playback source: `say:VOICE:TEXT`. */
export function spokenSource(text: string, voice: string): string {
  return `say:${voice}:${text}`;
}

/** @returns undefined for other sources */
export function readSpokenSource(source: string): { readonly text: string; readonly voice: string } | undefined {
  const [, voice, text] = /^say:([^:]*):(.*)$/s.exec(source) ?? [];
  return voice === undefined || text === undefined ? undefined : { text, voice };
}

/** Arguments of the media server's `speak`; the separator is removed from the text. */
export function speechArguments(text: string, voice: string): string {
  return `${ENGINE}|${voice}|${text.replaceAll('|', ' ').replace(/[\r\n]+/g, ' ')}`;
}

const ENGINE = 'espeak';

/** Without a speech engine, the media server finishes immediately; real speech takes longer than this. */
export function leastSpeechMs(text: string): number {
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return Math.min(300, letters * 20);
}
