/**
 * Login ban (specification, "Authentication" 4): after 5 failures within 180 s an address is refused until the oldest of
 * them has left the window. Addresses under attack are bounded in number; each keeps 5 times at most.
 */
import { BlockList, isIPv6 } from 'node:net';
import { InvalidFieldError } from '../domain/index.ts';

export const BAN_WINDOW_MS = 180_000;
export const BAN_FAILURES = 5;
/** Addresses remembered; the one that failed longest ago gives way. */
const MAX_ADDRESSES = 50_000;
/** Attempts of one address that may wait for the outcome of earlier ones. */
const MAX_WAITING = 32;

interface Record {
  /** Times of the last failures, oldest first. */
  readonly failures: number[];
  /** Attempts whose outcome is not known yet. */
  running: number;
  readonly waiting: (() => void)[];
}

export type Admission =
  | { readonly admitted: true /** Tells the outcome; to be called once. */; done(failed: boolean): void }
  | { readonly admitted: false; readonly retryAfterSeconds: number };

export interface BanFilterOptions {
  /** Addresses and `address/prefix` networks that are never banned. */
  readonly allowList?: readonly string[] | undefined;
  readonly now?: (() => number) | undefined;
}

/** IPv4 as it is, IPv4-mapped as IPv4, IPv6 by its /64: that is what one customer gets. */
export function banKey(ip: string): string {
  const address = ip.replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  // URL gives the shortest form with hexadecimal groups only; `::` is filled up to eight groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function addTo(list: BlockList, entry: string): void {
  const [address = '', prefix] = entry.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  try {
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  } catch {
    throw new InvalidFieldError('iam', 'allowList', `must hold addresses and networks, \`${entry}\` is neither`, entry);
  }
}

function allowedBy(entries: readonly string[]): (ip: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) addTo(list, entry);
  return (ip) => list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

export class BanFilter {
  readonly #isAllowed: (ip: string) => boolean;
  readonly #now: () => number;
  readonly #records = new Map<string, Record>();
  readonly #listeners = new Set<(key: string, at: number) => void>();

  /** @throws InvalidFieldError when the allow list holds something else */
  constructor(options: BanFilterOptions = {}) {
    this.#isAllowed = allowedBy(options.allowList ?? []);
    this.#now = options.now ?? Date.now;
  }

  /** Addresses remembered. */
  get size(): number {
    return this.#records.size;
  }

  /** Seconds until `ip` may try again; 0 when it may now. */
  retryAfter(ip: string): number {
    if (this.#isAllowed(ip)) return 0;
    const record = this.#records.get(banKey(ip));
    return record === undefined ? 0 : this.#retryAfter(record);
  }

  /** Counts a failure that needed no admission, such as an unknown session id. */
  fail(ip: string): void {
    if (this.#isAllowed(ip)) return;
    const key = banKey(ip);
    const at = this.#now();
    this.note(key, at);
    for (const listener of this.#listeners) listener(key, at);
  }

  /** Calls back for each failure that this node counts, with what {@link note} of another node needs. */
  onFailure(listener: (key: string, at: number) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Counts a failure that another node has seen.
   *
   * @param key of the address
   * @param at milliseconds since the epoch
   */
  note(key: string, at: number): void {
    const record = this.#records.get(key) ?? { failures: [], running: 0, waiting: [] };
    record.failures.push(at);
    record.failures.sort((a, b) => a - b);
    if (record.failures.length > BAN_FAILURES) record.failures.shift();
    // Set again, so that the map's order is that of the last failure.
    this.#records.delete(key);
    this.#records.set(key, record);
    this.#forget();
  }

  /**
   * Asks for an attempt at `ip`. Attempts that run at once cannot get past the limit together: those beyond it wait for the
   * outcome of the earlier ones, so that valid ones still all succeed.
   */
  async admit(ip: string): Promise<Admission> {
    if (this.#isAllowed(ip)) return { admitted: true, done: () => undefined };
    const key = banKey(ip);
    const record = this.#records.get(key) ?? { failures: [], running: 0, waiting: [] };
    this.#records.set(key, record);
    while (this.#retryAfter(record) === 0 && this.#recent(record) + record.running >= BAN_FAILURES) {
      if (record.waiting.length >= MAX_WAITING) return { admitted: false, retryAfterSeconds: 1 };
      await new Promise<void>((resolve) => record.waiting.push(resolve));
    }
    const retryAfterSeconds = this.#retryAfter(record);
    if (retryAfterSeconds > 0) return { admitted: false, retryAfterSeconds };
    record.running++;
    return {
      admitted: true,
      done: (failed) => {
        record.running--;
        this.#records.set(key, record);
        if (failed) this.fail(ip);
        for (const wake of record.waiting.splice(0)) wake();
        this.#drop(key, record);
      },
    };
  }

  #recent(record: Record): number {
    const since = this.#now() - BAN_WINDOW_MS;
    while (record.failures[0] !== undefined && record.failures[0] <= since) record.failures.shift();
    return record.failures.length;
  }

  #retryAfter(record: Record): number {
    if (this.#recent(record) < BAN_FAILURES) return 0;
    const oldest = record.failures[0] ?? 0;
    return Math.max(1, Math.ceil((oldest + BAN_WINDOW_MS - this.#now()) / 1_000));
  }

  #drop(key: string, record: Record): void {
    const idle = record.running === 0 && record.waiting.length === 0 && this.#recent(record) === 0;
    if (idle) this.#records.delete(key);
  }

  /** Drops what left the window, and the oldest beyond the bound. */
  #forget(): void {
    for (const [key, record] of this.#records) {
      const busy = record.running > 0 || record.waiting.length > 0;
      const outdated = this.#recent(record) === 0;
      if (!busy && (outdated || this.#records.size > MAX_ADDRESSES)) this.#records.delete(key);
      else return;
    }
  }
}
