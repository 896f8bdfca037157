import type { MediaEndpoint } from './endpoint.ts';

export interface PlaySettings {
  readonly signal: AbortSignal;
  /** A digit out of this set ends the playback; empty: digits do not interrupt. */
  readonly stopDigits: string;
  /** How often the whole list is played. */
  readonly repeat: number;
}

export interface Played {
  readonly digit: string | undefined;
  readonly milliseconds: number;
}

/**
 * Plays sources, in the media server's notation, in order, as often as asked; a stop digit ends it and is the result. Other digits stay for the next
 * collect.
 * @throws the signal's reason; MediaError; EndpointGone
 */
export async function playSources(
  endpoint: MediaEndpoint,
  sources: readonly string[],
  settings: PlaySettings,
): Promise<Played> {
  const { stopDigits } = settings;
  const stopping = new AbortController();
  let pressed: string | undefined;
  const typedAhead: string[] = [];
  const leave =
    stopDigits === ''
      ? undefined
      : endpoint.digits.listen((digit) => {
          if (pressed === undefined && stopDigits.includes(digit)) {
            pressed = digit;
            stopping.abort(new DOMException('interrupted by a digit', 'AbortError'));
          } else {
            typedAhead.push(digit);
          }
        });
  const signal = AbortSignal.any([settings.signal, stopping.signal]);
  let milliseconds = 0;
  try {
    for (let round = 0; round < settings.repeat && pressed === undefined; round++) {
      for (const source of sources) milliseconds += await endpoint.play(source, signal);
    }
  } catch (error) {
    if (pressed === undefined || settings.signal.aborted) throw error;
  } finally {
    leave?.();
    for (const digit of typedAhead) endpoint.digits.push(digit);
  }
  return { digit: pressed, milliseconds };
}
