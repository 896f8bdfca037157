import type { Isolate } from 'isolated-vm';
import type { LimitName } from '../limits.ts';

/** How long a script may work now, and the limit that says so. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly name: LimitName;
}

/** The processor time that one script has used, over all isolates it was in; doing things again does not count. */
export class ScriptTime {
  readonly #cpuMs: number;
  readonly #activationMs: number;
  #isolate: Isolate | undefined;
  /** Processor time of the isolate before the script had it. */
  #before = 0n;
  /** What the script used in earlier isolates. */
  #earlier = 0;
  #used = 0;

  /** @param limits milliseconds of processor time for all, and of time for one turn */
  constructor({ cpuMs, activationMs }: { readonly cpuMs: number; readonly activationMs: number }) {
    this.#cpuMs = cpuMs;
    this.#activationMs = activationMs;
  }

  /** From now on what the isolate uses is the script's. */
  begin(isolate: Isolate): void {
    this.#isolate = isolate;
    this.#before = isolate.cpuTime;
  }

  /** The script gives up its isolate. */
  pause(): void {
    this.#earlier = this.used();
    this.#isolate = undefined;
  }

  /** Milliseconds so far. */
  used(): number {
    const isolate = this.#isolate;
    if (isolate && !isolate.isDisposed) this.#used = this.#earlier + Number(isolate.cpuTime - this.#before) / 1e6;
    return this.#used;
  }

  get isExceeded(): boolean {
    return this.used() > this.#cpuMs;
  }

  limit(): TimeLimit {
    const left = Math.ceil(this.#cpuMs - this.used());
    return {
      milliseconds: Math.max(1, Math.min(this.#activationMs, left)),
      name: left < this.#activationMs ? 'cpuMs' : 'activationMs',
    };
  }
}
