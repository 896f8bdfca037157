/** Refuses senders that guess SIP passwords. */
import { sourceOfLimits } from '../../sip-facts/index.ts';

/** Milliseconds for which a failure counts, as one of a login does. */
const WINDOW_MS = 180_000;
/** Failures of an account, and accounts with failures, within the window. */
const FAILURES = 5;
/** Number of addresses kept; the one with the oldest last failure is dropped first. */
const MAX_ADDRESSES = 50_000;

interface Failure {
  readonly account: string;
  readonly at: number;
}

/**
 * Bans after wrong SIP passwords. An account is refused from an address after 5 failures within 180 s, and every account after
 * failures of 5: a phone that repeats an outdated password does not ban the other phones behind its address, and who tries
 * many accounts is refused whatever the next one is. The addresses of an IPv6 /64 count as one. A ban ends when the oldest of these failures leaves the window.
 */
export class DigestBan {
  readonly #isAllowed: (address: string) => boolean;
  readonly #now: () => number;
  /** In the order of the last failure. */
  readonly #failures = new Map<string, readonly Failure[]>();
  #tell: ((address: string, account: string) => void) | undefined;

  /**
   * @param isAllowed addresses that are never banned
   * @param now milliseconds of a clock that never goes back
   */
  constructor(isAllowed: (address: string) => boolean = () => false, now: () => number = () => performance.now()) {
    this.#isAllowed = isAllowed;
    this.#now = now;
  }

  /** Tells each failure that is counted here to others, which count it by `fail` of theirs. */
  tellFailures(tell: (address: string, account: string) => void): void {
    this.#tell = tell;
  }

  /** Seconds until the account may be tried from the address; 0: now. */
  retryAfter(address: string, account: string): number {
    const recent = this.#recent(sourceOfLimits(address));
    const ofAccount = recent.filter((failure) => failure.account === account);
    const ofAccounts = [...latestByAccount(recent).values()];
    const due = [ofAccount, ofAccounts]
      .filter((failures) => failures.length >= FAILURES)
      .map((failures) => (failures.at(-FAILURES)?.at ?? 0) + WINDOW_MS - this.#now());
    return Math.ceil(Math.max(0, ...due) / 1000);
  }

  /**
   * Counts a wrong password for the account from the address.
   * @param elsewhere true: another node tells it
   * @returns true when this failure begins a ban
   */
  fail(address: string, account: string, elsewhere = false): boolean {
    if (this.#isAllowed(address) || this.retryAfter(address, account) > 0) return false;
    if (!elsewhere) this.#tell?.(address, account);
    const source = sourceOfLimits(address);
    const failures = [...this.#recent(source), { account, at: this.#now() }];
    this.#failures.delete(source);
    this.#failures.set(source, failures);
    for (const known of this.#failures.keys()) {
      if (this.#failures.size <= MAX_ADDRESSES && this.#recent(known).length > 0) break;
      this.#failures.delete(known);
    }
    return this.retryAfter(address, account) > 0;
  }

  #recent(source: string): readonly Failure[] {
    const since = this.#now() - WINDOW_MS;
    return this.#failures.get(source)?.filter(({ at }) => at > since) ?? [];
  }
}

/** In the order of these failures. */
function latestByAccount(failures: readonly Failure[]): Map<string, Failure> {
  const latest = new Map<string, Failure>();
  for (const failure of failures) {
    latest.delete(failure.account);
    latest.set(failure.account, failure);
  }
  return latest;
}
