/** A text to be spoken, as a source among others: `say:VOICE:TEXT`. */
export function spokenSource(text: string, voice: string): string {
  return `say:${voice}:${text}`;
}

/** @returns undefined for a source that is no text */
export function readSpokenSource(source: string): { readonly text: string; readonly voice: string } | undefined {
  const [, voice, text] = /^say:([^:]*):(.*)$/s.exec(source) ?? [];
  return voice === undefined || text === undefined ? undefined : { text, voice };
}

/** What the media server's `speak` is told; the separator of its arguments cannot be part of the text. */
export function speechArguments(text: string, voice: string): string {
  return `${ENGINE}|${voice}|${text.replaceAll('|', ' ').replace(/[\r\n]+/g, ' ')}`;
}

const ENGINE = 'espeak';

/** A media server without a speech engine is done with a text at once; nobody speaks it faster than this. */
export function leastSpeechMs(text: string): number {
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return Math.min(300, letters * 20);
}
