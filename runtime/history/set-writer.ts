/** When gathered records are written: in sets, and again and again while the database is away. */

export interface SetWriterOptions {
  /** So many waiting records are written without further waiting. */
  readonly set: number;
  /** Number of records that wait. */
  waiting(): number;
  /** Writes what waits. @throws errors of the storage: what is not written waits on */
  write(): Promise<void>;
  /** All that waited is written. @param wasAway the attempt before failed */
  written(wasAway: boolean): void;
  /** The first attempt that failed since the last one that did not. */
  failed(error: unknown): void;
}

/** Milliseconds in which records gather for one statement, which costs as much as thirty records in it. */
const GATHER_MS = 10_000;
/** Milliseconds between two attempts while the database is away. */
const RETRY_MS = 2_000;
/** Milliseconds that a stopping node waits for the database. */
const CLOSE_MS = 2_000;

export class SetWriter {
  readonly #options: SetWriterOptions;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isAway = false;
  #closed = false;

  constructor(options: SetWriterOptions) {
    this.#options = options;
  }

  /** The last attempt to write failed. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Records wait: they are written soon, a whole set at once. */
  added(): void {
    const isMany = this.#options.waiting() >= this.#options.set && !this.#isAway;
    this.#schedule(isMany ? 0 : this.#pause());
  }

  /** Writes what waits now. Never rejects: what cannot be written waits on. */
  async flush(): Promise<void> {
    // A write that is at work may have passed the newest records already.
    await this.#writing;
    if (!this.#closed) await this.#begin();
  }

  /** Writes what waits, for up to two seconds, and nothing after that. */
  async close(): Promise<void> {
    this.#closed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    const rest = async (): Promise<void> => {
      await this.#writing;
      await this.#begin();
    };
    await Promise.race([rest(), late]);
    clearTimeout(timer);
  }

  #pause(): number {
    return this.#isAway ? RETRY_MS : GATHER_MS;
  }

  #schedule(ms: number): void {
    if ((this.#timer !== undefined && ms > 0) || this.#writing !== undefined || this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#begin(), ms).unref();
  }

  #begin(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#options.waiting() > 0) this.#schedule(this.#pause());
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const wasAway = this.#isAway;
    try {
      await this.#options.write();
      this.#isAway = false;
      this.#options.written(wasAway);
    } catch (error) {
      this.#isAway = true;
      if (!wasAway) this.#options.failed(error);
    }
  }
}
