/** A text to be spoken, as a playback source: `say:VOICE:TEXT`. */
export function spokenSource(text: string, voice: string): string {
  return `say:${voice}:${text}`;
}

/** @returns undefined for other sources */
export function readSpokenSource(source: string): { readonly text: string; readonly voice: string } | undefined {
  const [, voice, text] = /^say:([^:]*):(.*)$/s.exec(source) ?? [];
  return voice === undefined || text === undefined ? undefined : { text, voice };
}

/** Variables that name the speech engine and the voice of a channel, for `uuid_setvar_multi`. */
export function speechSettings(voice: string): string {
  return `tts_engine=espeak;tts_voice=${voice.replace(/[;\s]+/g, '')}`;
}

/** Argument of `playback` that speaks a text: of one line, and without `@@`, which begins an offset. */
export function speechArguments(text: string): string {
  return `say:${text.replace(/[\r\n]+/g, ' ').replace(/@{2,}/g, '@')}`;
}
