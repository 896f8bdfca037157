/** Whether the media server wrote the whole recording: the disk may be full. */
export type RecordingEnd = 'whole' | 'broken';

/** Waits for complete recordings, also after the end of their channel. */
export class RecordingNotices {
  readonly #waiting = new Map<string, (end: RecordingEnd) => void>();

  /** @param file as given to the media server */
  completed(file: string): Promise<RecordingEnd> {
    return new Promise((resolve) => this.#waiting.set(file, resolve));
  }

  /** The media server reported a complete recording. */
  notice(file: string, end: RecordingEnd = 'whole'): void {
    this.#waiting.get(file)?.(end);
    this.#waiting.delete(file);
  }

  forget(file: string): void {
    this.#waiting.delete(file);
  }
}
