import type { MediaEndpoint } from './endpoint.ts';
import { wholeSeconds } from './record-arguments.ts';

export interface RecordSettings {
  readonly signal: AbortSignal;
  /** WAV file to write, absolute. */
  readonly file: string;
  /** Milliseconds of sound at most. */
  readonly maxMs: number;
  /** Milliseconds of silence that end the recording; 0: silence does not. */
  readonly silenceMs: number;
  /** Digits that end the recording. */
  readonly stopDigits: string;
}

export interface Recorded {
  /** Without the silence that ended it. */
  readonly milliseconds: number;
  readonly reason: 'digit' | 'silence' | 'limit';
  readonly digit: string | undefined;
}

/**
 * Records what a phone says. What was recorded stays, however it ends.
 * @throws the signal's reason; MediaError; EndpointGone when the phone hangs up
 */
export async function recordPhone(endpoint: MediaEndpoint, settings: RecordSettings): Promise<Recorded> {
  const { file, maxMs, silenceMs, stopDigits, signal } = settings;
  const stopping = new AbortController();
  let digit: string | undefined;
  const leave = endpoint.digits.listen((pressed) => {
    if (digit !== undefined || !stopDigits.includes(pressed)) return;
    digit = pressed;
    stopping.abort(new DOMException('ended by a digit', 'AbortError'));
  });
  // The media server ends a recording at a second of the clock, up to one second late.
  const limit = setTimeout(() => stopping.abort(new DOMException('the longest time is over', 'AbortError')), maxMs);
  const started = performance.now();
  try {
    const milliseconds = await endpoint.record(file, maxMs, silenceMs, AbortSignal.any([signal, stopping.signal]));
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

/** The media server counts in whole frames and seconds: this near to the limit is the limit. */
const LIMIT_SLACK_MS = 100;
