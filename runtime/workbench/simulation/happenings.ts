/** Keeps the events of a simulation by run and step. */
import type { CallPort, ComponentRegistry, Run, TraceEntry } from '../../runs/index.ts';
import { usesCall } from '../../language/index.ts';
import type { CallEvent } from './call-script.ts';

/** Events of one run, by step. */
export type EventsByStep = ReadonlyMap<number, readonly CallEvent[]>;

/** Components that wait for another run. */
const WAIT_FOR_RUNS: ReadonlySet<string> = new Set(['serve', 'await_run']);

/** Keeps the events of a simulation, by the first run's step and by run. */
export class Happenings {
  readonly #components: ComponentRegistry;
  readonly #runs: Run[] = [];
  readonly #ofFirst = new Map<number, CallEvent[]>();
  readonly #byRun = new Map<string, Map<number, CallEvent[]>>();

  constructor(components: ComponentRegistry) {
    this.#components = components;
  }

  /** All events, by the steps of the first run. */
  get ofFirst(): EventsByStep {
    return this.#ofFirst;
  }

  /** Runs that got the call by `serve`, beside those started by another run for itself. */
  get served(): readonly Run[] {
    return this.#runs.slice(1);
  }

  began(run: Run): void {
    this.#runs.push(run);
  }

  /** Events of one run, without those of runs started by it. */
  of({ id }: Run): EventsByStep {
    return this.#byRun.get(id) ?? new Map<number, readonly CallEvent[]>();
  }

  /** @param call the event's call; undefined: an event outside of calls */
  happened(event: CallEvent, call?: CallPort): void {
    const [first] = this.#runs;
    keep(this.#ofFirst, first && latest(first), event);
    const run = call ? this.#holder(call) : this.#doer();
    if (run === undefined) return;
    const events = this.#byRun.get(run.id) ?? new Map<number, CallEvent[]>();
    this.#byRun.set(run.id, events);
    keep(events, latest(run), event);
  }

  /** The run that has the call, which may be borrowed; after the end of all, its owner. */
  #holder(call: CallPort): Run | undefined {
    const holders = this.#all().filter(({ calls }) => calls.includes(call));
    return holders.findLast(({ phase }) => phase !== 'finished') ?? holders[0];
  }

  /** The run with the latest block that makes an outside request. */
  #doer(): Run | undefined {
    let found: Run | undefined;
    let since = -Infinity;
    for (const run of this.#all()) {
      const entry = latest(run);
      if (entry === undefined || entry.exit !== undefined || this.#waits(entry)) continue;
      if (entry.start >= since) [found, since] = [run, entry.start];
    }
    return found ?? this.#runs[0];
  }

  /** True for a block that waits for a party or another run: outside events meanwhile are not its own. */
  #waits({ component: name }: TraceEntry): boolean {
    const component = this.#components.get(name);
    return WAIT_FOR_RUNS.has(name) || (component?.waits === true && usesCall(component));
  }

  #all(): readonly Run[] {
    return this.#runs.flatMap(withStarted);
  }
}

function withStarted(run: Run): readonly Run[] {
  return [run, ...run.children.flatMap(withStarted)];
}

function latest({ trace }: Run): TraceEntry | undefined {
  return trace.at(-1);
}

function keep(events: Map<number, CallEvent[]>, entry: TraceEntry | undefined, event: CallEvent): void {
  const step = entry?.step ?? 0;
  events.set(step, [...(events.get(step) ?? []), event]);
}
