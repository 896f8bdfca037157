import type { DomainName } from '../domain-name/index.ts';

/** A scenario whose next run waits for a debugger. */
export interface ArmedRun {
  readonly scenario: string;
  /** Number of the caller; empty: any caller, and runs without a call. */
  readonly callerNumber: string;
  /** End of the wait, milliseconds since the epoch. */
  readonly until: number;
}

/** Milliseconds within which the run must begin: its author is waiting at the debugger. */
const LIFETIME_MS = 600_000;
/** Limit of armed scenarios in one domain; the oldest is dropped. */
const MAX_ARMED = 100;

/** Scenarios of all domains whose next run waits for a debugger: each for one run, and for a short time. */
export class ArmedRuns {
  /** By domain, because ids are unique only within a domain. Ordered by the end of their wait. */
  readonly #domains = new Map<DomainName, ArmedRun[]>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Arms a scenario; the time starts anew when it is armed already. */
  arm(domain: DomainName, scenario: string, callerNumber: string): ArmedRun {
    this.#drop(domain, (one) => one.scenario === scenario && one.callerNumber === callerNumber);
    const armed = { scenario, callerNumber, until: this.#now() + LIFETIME_MS };
    this.#domains.set(domain, [...this.list(domain), armed].slice(-MAX_ARMED));
    return armed;
  }

  /** Disarms the scenario for this run, and returns true when it was armed. */
  take(domain: DomainName, scenario: string, callerNumber: string | undefined): boolean {
    // The usual case.
    if (this.#domains.size === 0) return false;
    const fitting = this.list(domain).filter((one) => one.scenario === scenario);
    const found =
      fitting.find((one) => one.callerNumber !== '' && one.callerNumber === callerNumber) ??
      fitting.find((one) => one.callerNumber === '');
    return found !== undefined && this.#drop(domain, (one) => one === found);
  }

  /** The armed scenarios of a domain. */
  list(domain: DomainName): readonly ArmedRun[] {
    this.#drop(domain, ({ until }) => until <= this.#now());
    return this.#domains.get(domain) ?? [];
  }

  /** Disarms a scenario. @returns false when it was not armed */
  disarm(domain: DomainName, scenario: string): boolean {
    return this.list(domain).length > 0 && this.#drop(domain, (one) => one.scenario === scenario);
  }

  /** Drops those of a domain whose scenario no longer exists. */
  async prune(domain: DomainName, exists: (scenario: string) => Promise<boolean>): Promise<void> {
    for (const { scenario } of this.list(domain)) if (!(await exists(scenario))) this.disarm(domain, scenario);
  }

  #drop(domain: DomainName, isOne: (armed: ArmedRun) => boolean): boolean {
    const all = this.#domains.get(domain);
    const left = all?.filter((one) => !isOne(one)) ?? [];
    if (left.length > 0) this.#domains.set(domain, left);
    else this.#domains.delete(domain);
    return left.length < (all?.length ?? 0);
  }
}
