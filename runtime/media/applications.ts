/** Runs FreeSWITCH applications on a channel. */
import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';
import { aborted, elapsed, untilAborted } from './until-aborted.ts';

/** Milliseconds until a still running application is broken again: five packets. */
const BREAK_AGAIN_MS = 100;
/** Milliseconds in which an ended channel reports the end of its application. */
const END_REPORT_MS = 1000;

/** Settles when the channel begins to run an application with this name, and with this argument if given. */
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
 * Runs the applications of a channel one after another, as the channel itself does. Otherwise an interruption could end
 * the one before, and the next would run forever.
 */
export class Applications {
  readonly #channel: FsEndpoint;
  readonly #gone: AbortSignal;
  /** Settles when the running and waiting applications are over. */
  #running: Promise<unknown> | undefined;
  /** Settles when the channel has finished the latest of them. */
  #latest: Promise<void> | undefined;

  /** @param gone aborted when the channel has ended */
  constructor(channel: FsEndpoint, gone: AbortSignal) {
    this.#channel = channel;
    this.#gone = gone;
  }

  /**
   * Runs an application to its end. When the signal aborts, `interrupt` or a break ends it. Settles when the channel is
   * free, so that the next application does not meet the rest of this one.
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

  /** Settles when the channel has finished its applications, within a second even if it has ended meanwhile. */
  async through(): Promise<void> {
    await Promise.race([this.#latest, elapsed(END_REPORT_MS)]);
  }

  async #execute(
    application: string,
    data: string,
    signal: AbortSignal,
    interrupt?: () => Promise<void>,
  ): Promise<FsEvent> {
    const started = begins(this.#channel, application);
    const over = new AbortController();
    // An interruption before the start would have no effect, and the application would never end.
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
   * Breaks the running application until it ends. FreeSWITCH loses a break while it begins an application or changes
   * the codec, which happens some 20 ms after a session description.
   */
  async #break(over: AbortSignal): Promise<void> {
    const { uuid } = this.#channel;
    while (!over.aborted && !this.#gone.aborted) {
      try {
        // Not `all`: that would also drop waiting commands, such as a hangup.
        await untilAborted(this.#channel.api('uuid_break', uuid), this.#gone);
      } catch {
        // The channel or its connection has ended, and the application with it.
        return;
      }
      await Promise.race([aborted(over), elapsed(BREAK_AGAIN_MS)]);
    }
  }
}
