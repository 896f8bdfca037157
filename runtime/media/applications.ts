import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';
import { aborted, elapsed, untilAborted } from './until-aborted.ts';

/** Milliseconds after which an application that goes on is broken again: five packets. */
const BREAK_AGAIN_MS = 100;
/** Milliseconds in which a channel that has gone tells of the end of what it ran. */
const LAST_WORDS_MS = 1000;

/** Settles when the channel begins to run an application of that name, with that argument when it is given. */
export function begins(channel: FsEndpoint, application: string, data?: string): Promise<void> {
  const name = `esl::event::CHANNEL_EXECUTE::${channel.uuid}`;
  return new Promise((resolve) => {
    const listener = (event: FsEvent) => {
      if (event.getHeader('Application') !== application) return;
      if (data !== undefined && event.getHeader('Application-Data') !== data) return;
      channel.conn?.removeListener(name, listener);
      resolve();
    };
    channel.conn?.on(name, listener);
  });
}

/**
 * The applications that a channel runs for a while: one after the other, as on the channel itself. An interruption could
 * otherwise end the one before, and the next would go on for ever.
 */
export class Applications {
  readonly #channel: FsEndpoint;
  readonly #gone: AbortSignal;
  /** Settles when those are over that run or wait. */
  #running: Promise<unknown> | undefined;
  /** Settles when the channel is through with the latest of them. */
  #latest: Promise<void> | undefined;

  /** @param gone aborted when the channel has ended */
  constructor(channel: FsEndpoint, gone: AbortSignal) {
    this.#channel = channel;
    this.#gone = gone;
  }

  /**
   * Runs an application until it is over, by itself or because the signal aborted: then `interrupt` ends it, or a break.
   * Settles when the channel is free again, so that whatever comes next does not meet a rest of it.
   * @returns its CHANNEL_EXECUTE_COMPLETE
   * @throws the reason of the signal, or of `gone`
   */
  async run(application: string, data: string, signal: AbortSignal, interrupt?: () => Promise<void>): Promise<FsEvent> {
    signal.throwIfAborted();
    const before = this.#running;
    const run =
      before === undefined
        ? this.#execute(application, data, signal, interrupt)
        : untilAborted(before, AbortSignal.any([signal, this.#gone])).then(() =>
            this.#execute(application, data, signal, interrupt),
          );
    const over = Promise.allSettled([before, run]);
    this.#running = over;
    void over.then(() => {
      if (this.#running === over) this.#running = undefined;
    });
    return await run;
  }

  /** Settles when the channel is through with what it ran, also when it has gone meanwhile: within a second. */
  async through(): Promise<void> {
    await Promise.race([this.#latest, elapsed(LAST_WORDS_MS)]);
  }

  async #execute(
    application: string,
    data: string,
    signal: AbortSignal,
    interrupt?: () => Promise<void>,
  ): Promise<FsEvent> {
    const started = begins(this.#channel, application);
    const over = new AbortController();
    // An interruption that overtakes the start would miss it, and nothing would end the application any more.
    const stop = () => void started.then(interrupt ?? (() => this.#break(over.signal)));
    signal.addEventListener('abort', stop, { once: true });
    try {
      const executed = this.#channel.execute(application, data);
      this.#latest = executed.then(
        () => undefined,
        () => undefined,
      );
      const event = await untilAborted(executed, this.#gone);
      signal.throwIfAborted();
      return event;
    } finally {
      over.abort();
      signal.removeEventListener('abort', stop);
    }
  }

  /**
   * Breaks the application that runs until it is over. FreeSWITCH forgets a break that comes while it begins one or
   * changes the codec, as it does some 20 ms after a session description.
   */
  async #break(over: AbortSignal): Promise<void> {
    const { uuid } = this.#channel;
    while (!over.aborted && !this.#gone.aborted) {
      try {
        // Not `all`: that also throws away the commands that wait, a hangup among them.
        await untilAborted(this.#channel.api('uuid_break', uuid), this.#gone);
      } catch {
        // The channel has gone, or its connection has, with which it ends: so does the application.
        return;
      }
      await Promise.race([aborted(over), elapsed(BREAK_AGAIN_MS)]);
    }
  }
}
