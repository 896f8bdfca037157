/** Whether the media server wrote everything that it was to write: a disk may be full. */
export type RecordingEnd = 'whole' | 'broken';

/** Tells when the media server has completed a recording, also when its channel is gone by then. */
export class RecordingNotices {
  readonly #waiting = new Map<string, (end: RecordingEnd) => void>();

  /** @param file as the media server was given it */
  completed(file: string): Promise<RecordingEnd> {
    return new Promise((resolve) => this.#waiting.set(file, resolve));
  }

  /** The media server said so. */
  notice(file: string, end: RecordingEnd = 'whole'): void {
    this.#waiting.get(file)?.(end);
    this.#waiting.delete(file);
  }

  forget(file: string): void {
    this.#waiting.delete(file);
  }
}
