/** Plays sources to a party. */
import type { MediaEndpoint } from './endpoint.ts';

export interface PlaySettings {
  readonly signal: AbortSignal;
  /** Any of these digits ends the playback; empty: none does. */
  readonly stopDigits: string;
  /** Number of repetitions of the whole list. */
  readonly repeat: number;
}

export interface Played {
  readonly digit: string | undefined;
  readonly milliseconds: number;
}

/**
 * Runs work that a stop digit ends. Other digits stay queued.
 * @param work receives the signal that ends it
 * @throws the signal's reason, and errors of the work
 */
export async function stoppable<T>(
  endpoint: MediaEndpoint,
  { signal, stopDigits }: Pick<PlaySettings, 'signal' | 'stopDigits'>,
  work: (signal: AbortSignal, stopped: () => boolean) => Promise<T>,
): Promise<{ readonly digit: string | undefined; readonly value: T | undefined }> {
  const stopping = new AbortController();
  let pressed: string | undefined;
  const typedAhead: string[] = [];
  const listener = (digit: string) => {
    if (pressed === undefined && stopDigits.includes(digit)) {
      pressed = digit;
      stopping.abort(new DOMException('interrupted by a digit', 'AbortError'));
    } else {
      typedAhead.push(digit);
    }
  };
  const leave = stopDigits === '' ? undefined : endpoint.digits.listen(listener);
  try {
    const value = await work(AbortSignal.any([signal, stopping.signal]), () => pressed !== undefined);
    return { digit: pressed, value };
  } catch (error) {
    if (pressed === undefined || signal.aborted) throw error;
    return { digit: pressed, value: undefined };
  } finally {
    leave?.();
    for (const digit of typedAhead) endpoint.digits.push(digit);
  }
}

/**
 * Plays sources in the media server's notation, in order and repeatedly; a stop digit ends it and is the result. Other
 * digits stay for the next collect.
 * @throws the signal's reason; MediaError; EndpointGone
 */
export async function playSources(
  endpoint: MediaEndpoint,
  sources: readonly string[],
  settings: PlaySettings,
): Promise<Played> {
  let milliseconds = 0;
  const { digit } = await stoppable(endpoint, settings, async (signal, stopped) => {
    for (let round = 0; round < settings.repeat && !stopped(); round++) {
      for (const source of sources) milliseconds += await endpoint.play(source, signal);
    }
  });
  return { digit, milliseconds };
}
