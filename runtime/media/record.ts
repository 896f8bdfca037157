/** Records a phone into a file. */
import type { MediaEndpoint } from './endpoint.ts';
import { wholeSeconds } from './record-arguments.ts';

export interface RecordSettings {
  readonly signal: AbortSignal;
  /** WAV file to write, absolute. */
  readonly file: string;
  /** Largest duration of sound in milliseconds. */
  readonly maxMs: number;
  /** Milliseconds of silence that end the recording; 0: silence does not. */
  readonly silenceMs: number;
  /** Digits that end the recording. */
  readonly stopDigits: string;
  /** True: appends to the file. */
  readonly append?: boolean;
}

export interface Recorded {
  /** Duration without the silence that ended it. */
  readonly milliseconds: number;
  readonly reason: 'digit' | 'silence' | 'limit';
  readonly digit: string | undefined;
}

/**
 * Records a phone. The recorded part is kept, however it ends.
 * @throws the signal's reason; MediaError; EndpointGone when the phone hangs up
 */
export async function recordPhone(endpoint: MediaEndpoint, settings: RecordSettings): Promise<Recorded> {
  const { file, maxMs, silenceMs, stopDigits, signal, append = false } = settings;
  const stopping = new AbortController();
  let digit: string | undefined;
  const leave = endpoint.digits.listen((pressed) => {
    if (digit !== undefined || !stopDigits.includes(pressed)) return;
    digit = pressed;
    stopping.abort(new DOMException('ended by a digit', 'AbortError'));
  });
  // The media server ends a recording at a full second of its clock, up to one second late.
  const limit = setTimeout(() => stopping.abort(new DOMException('the longest time is over', 'AbortError')), maxMs);
  const started = performance.now();
  try {
    const milliseconds = await endpoint.record(
      { file, maxMs, silenceMs, append },
      AbortSignal.any([signal, stopping.signal]),
    );
    if (milliseconds >= maxMs - LIMIT_SLACK_MS) return { milliseconds, reason: 'limit', digit };
    return { milliseconds: Math.max(0, milliseconds - wholeSeconds(silenceMs) * 1000), reason: 'silence', digit };
  } catch (error) {
    if (!stopping.signal.aborted || signal.aborted) throw error;
    const milliseconds = Math.min(maxMs, Math.round(performance.now() - started));
    return { milliseconds, reason: digit === undefined ? 'limit' : 'digit', digit };
  } finally {
    clearTimeout(limit);
    leave();
  }
}

/**
 * Records successive phones into one file: each continues where the one before was cut off.
 * @returns a function that records the present phone, like `recordPhone`
 */
export function recordInTurn(
  settings: Omit<RecordSettings, 'signal' | 'append'>,
): (endpoint: MediaEndpoint, signal: AbortSignal) => Promise<Recorded> {
  let before: { readonly endpoint: MediaEndpoint; readonly milliseconds: number } | undefined;
  return async (endpoint, signal) => {
    const { milliseconds: soFar } = before ?? { milliseconds: 0 };
    const maxMs = settings.maxMs - soFar;
    if (maxMs <= 0) return { milliseconds: settings.maxMs, reason: 'limit', digit: undefined };
    await before?.endpoint.recorded();
    const started = performance.now();
    try {
      const recorded = await recordPhone(endpoint, { ...settings, signal, maxMs, append: before !== undefined });
      return { ...recorded, milliseconds: soFar + recorded.milliseconds };
    } catch (error) {
      before = { endpoint, milliseconds: soFar + Math.round(performance.now() - started) };
      throw error;
    }
  };
}

/** The media server counts whole frames and seconds: this close to the limit counts as the limit. */
const LIMIT_SLACK_MS = 100;
