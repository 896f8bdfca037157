/** The clock of all sound that is sent: a packet every 20 ms from each stream. */

/** Takes its turn every 20 ms. */
export interface Paced {
  tick(): void;
}

const TICK_MS = 5;
/** Streams begin in turns, so that a node does not get all packets of 20 ms at once. */
const PHASES = 4;
/** Ticks this late make packets late, ms. */
const LATE_MS = 10;
/** A longer pause of this process is not made up for, ms. */
const PAUSE_MS = 200;

/** Calls streams without drift, and counts how late it is itself. */
export class PacketClock {
  readonly #phases: Set<Paced>[] = Array.from({ length: PHASES }, () => new Set<Paced>());
  #size = 0;
  #next = 0;
  #began = 0;
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Packets sent, and those of them that this process sent more than 10 ms late. */
  readonly sent = { all: 0, late: 0, worstMs: 0 };

  add(stream: Paced): void {
    this.#phases[this.#next]?.add(stream);
    this.#next = (this.#next + 1) % PHASES;
    this.#size += 1;
    if (this.#timer !== undefined) return;
    this.#restart();
    this.#schedule();
  }

  remove(stream: Paced): void {
    if (this.#phases.some((phase) => phase.delete(stream))) this.#size -= 1;
    if (this.#size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Calls no stream any more. */
  close(): void {
    for (const phase of this.#phases) phase.clear();
    this.#size = 0;
    clearTimeout(this.#timer);
  }

  #restart(): void {
    this.#began = performance.now();
    this.#ticks = 0;
  }

  #schedule(): void {
    const due = this.#began + (this.#ticks + 1) * TICK_MS;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, due - performance.now()));
  }

  #run(): void {
    const now = performance.now();
    while (this.#began + (this.#ticks + 1) * TICK_MS <= now) {
      this.#ticks += 1;
      const phase = this.#phases[this.#ticks % PHASES] as Set<Paced>;
      const late = now - this.#began - this.#ticks * TICK_MS;
      this.sent.all += phase.size;
      if (late > LATE_MS) this.sent.late += phase.size;
      if (phase.size > 0) this.sent.worstMs = Math.max(this.sent.worstMs, late);
      for (const stream of phase) stream.tick();
      if (late > PAUSE_MS) this.#restart();
    }
    if (this.#size > 0) this.#schedule();
  }
}
