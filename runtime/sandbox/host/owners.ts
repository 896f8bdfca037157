/** What the runs of each owner use. */
import type { OwnerUsage } from '../sandbox.ts';
import type { HostRun } from './host-run.ts';

/** Adds up the usage of ended and live runs by owner. */
export class Owners {
  /** Milliseconds of ended runs. */
  readonly #ended = new Map<string, number>();

  /** A run has ended. */
  ended(run: HostRun): void {
    const { owner } = run.options;
    if (owner === undefined) return;
    this.#ended.set(owner, (this.#ended.get(owner) ?? 0) + run.usage().cpuMs);
  }

  /** @param live runs that have not ended */
  usage(live: Iterable<HostRun>): Map<string, OwnerUsage> {
    const usage = new Map<string, OwnerUsage>();
    for (const [owner, cpuMs] of this.#ended) usage.set(owner, { cpuMs, memoryBytes: 0 });
    for (const run of live) {
      const { owner } = run.options;
      if (owner === undefined) continue;
      const { cpuMs, memoryBytes } = run.usage();
      const sum = usage.get(owner) ?? { cpuMs: 0, memoryBytes: 0 };
      usage.set(owner, { cpuMs: sum.cpuMs + cpuMs, memoryBytes: sum.memoryBytes + memoryBytes });
    }
    return usage;
  }
}
