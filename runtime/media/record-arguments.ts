/** Energy below which the media server takes sound for silence. */
const SILENCE_LEVEL = 200;

/**
 * What the media server's `record` is told.
 * @param maxMs milliseconds at most
 * @param silenceMs milliseconds of silence that end it; 0: none does
 */
export function recordArguments(file: string, maxMs: number, silenceMs: number): string {
  const silence = silenceMs === 0 ? '' : ` ${SILENCE_LEVEL} ${wholeSeconds(silenceMs)}`;
  const path = /\s/.test(file) ? `'${file}'` : file;
  return `${path} ${Math.ceil(maxMs / 1000)}${silence}`;
}

/** Seconds as it counts them, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / 1000));
}
