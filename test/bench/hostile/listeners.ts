import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Heard } from '../media/receiver.ts';
import { QUIET_GC } from './quiet-gc.ts';

const LISTENER = fileURLToPath(new URL('listener.ts', import.meta.url));

/** Arguments of the listening process. */
export type ListenerOrder =
  | { readonly type: 'call'; readonly server: string; readonly number: string; readonly calls: number }
  | { readonly type: 'listen'; readonly milliseconds: number };

interface Answer {
  readonly done?: unknown;
  readonly failed?: string;
}

/**
 * Listening phones in a process of their own: the garbage of a benchmark, and the threads that collect it, delayed
 * as many packets as the attack under measurement.
 */
export class Listeners {
  readonly #child: ChildProcess;
  readonly #gone: Promise<[Answer]>;

  constructor() {
    this.#child = fork(LISTENER, { execArgv: [...QUIET_GC] });
    this.#gone = once(this.#child, 'exit').then(() => [{ failed: 'the listening process is gone' }]);
  }

  /** Settles when all calls are established. @param server `ip:port` @throws Error when one is refused */
  async call(server: string, number: string, calls: number): Promise<void> {
    await this.#do({ type: 'call', server, number, calls });
  }

  /** Receives the sound of all calls for a while. */
  async listen(milliseconds: number): Promise<Heard> {
    return (await this.#do({ type: 'listen', milliseconds })) as Heard;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  async #do(order: ListenerOrder): Promise<unknown> {
    this.#child.send(order);
    const [answer] = (await Promise.race([once(this.#child, 'message'), this.#gone])) as [Answer];
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer.done;
  }
}
