/** A live room that stays true: what REST answers, and the events since then. */
import { batch, signal } from '@preact/signals';
import { ApiError } from '../lib/http.ts';
import { after, type RoomEvent, type RoomState } from './room-state.ts';

export interface RoomListener {
  readonly onEvent: (event: RoomEvent) => void;
  /** Events come from now on, without those before. */
  readonly onStart: () => void;
  /** The service refuses to send events. */
  readonly onRefused: (message: string) => void;
}

/** Where the room comes from. */
export interface RoomSource {
  /** @throws ApiError 404 when the room has ended, or the person no longer takes part */
  read(): Promise<RoomState>;
  /** Follows the room's events. @returns ends it */
  follow(listener: RoomListener): () => void;
}

/** Several events within this time are one read. Milliseconds. */
const GATHER_MS = 300;
const RETRY_MS = { first: 1_000, most: 10_000 };

/**
 * Whatever changes while an answer is on its way has an event, so these are applied to the answer, which may be older.
 * One read is under way at a time. A user gets events only while taking part, and may have missed some before: so who
 * comes or goes is also read.
 */
export class LiveRoom {
  readonly state = signal<RoomState | undefined>(undefined);
  /** Over, or no longer visible to the person. */
  readonly gone = signal(false);
  /** Of the last read, unless it succeeded. */
  readonly problem = signal<unknown>(undefined);
  readonly #source: RoomSource;
  #stopped = false;
  /** Events since the read that is under way began. */
  #since: RoomEvent[] | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = RETRY_MS.first;

  constructor(source: RoomSource) {
    this.#source = source;
  }

  /** Follows the room until the returned function is called. @param onEvent also gets each event, after the room shows it */
  follow(onEvent: (event: RoomEvent) => void = () => undefined): () => void {
    const end = this.#source.follow({
      onStart: () => void this.reload(),
      onEvent: (event) => {
        this.#heard(event);
        onEvent(event);
      },
      onRefused: (message) => {
        this.problem.value = new Error(message);
      },
    });
    return () => {
      end();
      this.#stop();
    };
  }

  /** Reads the room. Settles when it shows the answer to a read that began after this call, or its failure. */
  reload(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#read().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.reload();
    });
    return this.#next;
  }

  async #read(): Promise<void> {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const since: RoomEvent[] = [];
    this.#since = since;
    try {
      const answer = await this.#source.read();
      if (!this.#stopped) this.#show(since.reduce(after, answer), false);
      this.#retryMs = RETRY_MS.first;
    } catch (error) {
      if (this.#stopped) return;
      if (error instanceof ApiError && error.status === 404) return this.#show(undefined, true);
      this.problem.value = error;
      if (isRefusal(error)) return;
      this.#readIn(this.#retryMs);
      this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS.most);
    } finally {
      this.#since = undefined;
    }
  }

  #show(state: RoomState | undefined, gone: boolean): void {
    batch(() => {
      this.state.value = state;
      this.gone.value = gone;
      this.problem.value = undefined;
    });
  }

  #heard(event: RoomEvent): void {
    if (this.#stopped) return;
    if (event.type === 'conf_end') {
      this.#stop();
      return this.#show(undefined, true);
    }
    this.#since?.push(event);
    const before = this.state.value;
    if (before === undefined) return this.#readIn(GATHER_MS);
    const now = after(before, event);
    this.state.value = now;
    if (now.participants.length !== before.participants.length) this.#readIn(GATHER_MS);
  }

  #readIn(ms: number): void {
    this.#timer ??= setTimeout(() => void this.reload(), ms);
  }

  #stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}

/** True for an error that another try does not mend. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
}
