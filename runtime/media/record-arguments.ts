/** Energy below which the media server detects silence. */
const SILENCE_LEVEL = 200;

/** What to record. */
export interface RecordWhat {
  readonly file: string;
  /** Largest duration in milliseconds. */
  readonly maxMs: number;
  /** Milliseconds of silence that end it; 0: silence does not. */
  readonly silenceMs: number;
  /** True: appends to the file. */
  readonly append: boolean;
}

/** Arguments of the media server's `record`. */
export function recordArguments({ file, maxMs, silenceMs }: Omit<RecordWhat, 'append'>): string {
  const silence = silenceMs === 0 ? '' : ` ${SILENCE_LEVEL} ${wholeSeconds(silenceMs)}`;
  const path = /\s/.test(file) ? `'${file}'` : file;
  return `${path} ${Math.ceil(maxMs / 1000)}${silence}`;
}

/** Whole seconds as the media server counts them, at least one. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.round(ms / 1000));
}
