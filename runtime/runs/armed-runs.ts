/** A scenario whose next run waits for a debugger. */
export interface ArmedRun {
  readonly scenario: string;
  /** Number of the caller whose call it has to be; empty: anybody's, and a run without a call. */
  readonly from: string;
  /** Until when, milliseconds since the epoch. */
  readonly until: number;
}

/** Milliseconds within which the run has to begin: who asked for it sits in front of a debugger. */
const LIFETIME_MS = 600_000;
/** So many may wait in one domain; the oldest is forgotten. */
const MAX_ARMED = 100;

/** The scenarios of all domains whose next run waits for a debugger: each for one run, and not for long. */
export class ArmedRuns {
  /** By domain; many have a scenario of the same id, as all have the examples. In the order in which they end. */
  readonly #domains = new Map<string, ArmedRun[]>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Asked again, it begins anew. */
  arm(domain: string, scenario: string, from: string): ArmedRun {
    this.#drop(domain, (one) => one.scenario === scenario && one.from === from);
    const armed = { scenario, from, until: this.#now() + LIFETIME_MS };
    this.#domains.set(domain.toLowerCase(), [...this.list(domain), armed].slice(-MAX_ARMED));
    return armed;
  }

  /** Whether this run is one; the next one of the scenario is as any other then. @param from the caller's number */
  take(domain: string, scenario: string, from: string | undefined): boolean {
    // As nearly always.
    if (this.#domains.size === 0) return false;
    const fitting = this.list(domain).filter((one) => one.scenario === scenario);
    const found = fitting.find((one) => one.from !== '' && one.from === from) ?? fitting.find((one) => one.from === '');
    return found !== undefined && this.#drop(domain, (one) => one === found);
  }

  /** Those of a domain. */
  list(domain: string): readonly ArmedRun[] {
    this.#drop(domain, ({ until }) => until <= this.#now());
    return this.#domains.get(domain.toLowerCase()) ?? [];
  }

  /** Takes back what was asked for a scenario. @returns false when nothing was */
  disarm(domain: string, scenario: string): boolean {
    return this.list(domain).length > 0 && this.#drop(domain, (one) => one.scenario === scenario);
  }

  /** Forgets those of a domain whose scenario is not there any more. */
  async prune(domain: string, exists: (scenario: string) => Promise<boolean>): Promise<void> {
    for (const { scenario } of this.list(domain)) if (!(await exists(scenario))) this.disarm(domain, scenario);
  }

  #drop(domain: string, isOne: (armed: ArmedRun) => boolean): boolean {
    const key = domain.toLowerCase();
    const all = this.#domains.get(key);
    const left = all?.filter((one) => !isOne(one)) ?? [];
    if (left.length > 0) this.#domains.set(key, left);
    else this.#domains.delete(key);
    return left.length < (all?.length ?? 0);
  }
}
