/** Tells when the media server has completed a recording, also when its channel is gone by then. */
export class RecordingNotices {
  readonly #waiting = new Map<string, () => void>();

  /** @param file as the media server was given it */
  completed(file: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(file, resolve));
  }

  /** The media server said so. */
  notice(file: string): void {
    this.#waiting.get(file)?.();
    this.#waiting.delete(file);
  }

  forget(file: string): void {
    this.#waiting.delete(file);
  }
}
