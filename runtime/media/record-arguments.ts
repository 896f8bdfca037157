/** Energy below which the media server takes sound for silence. */
const SILENCE_LEVEL = 200;

/** What is to be recorded. */
export interface RecordWhat {
  readonly file: string;
  /** Milliseconds at most. */
  readonly maxMs: number;
  /** Milliseconds of silence that end it; 0: none does. */
  readonly silenceMs: number;
  /** Whether what is in the file stays before it. */
  readonly append: boolean;
}

/** What the media server's `record` is told. */
export function recordArguments({ file, maxMs, silenceMs }: Omit<RecordWhat, 'append'>): string {
  const silence = silenceMs === 0 ? '' : ` ${SILENCE_LEVEL} ${wholeSeconds(silenceMs)}`;
  const path = /\s/.test(file) ? `'${file}'` : file;
  return `${path} ${Math.ceil(maxMs / 1000)}${silence}`;
}

/** Seconds as it counts them, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / 1000));
}
