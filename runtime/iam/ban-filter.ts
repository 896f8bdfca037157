/**
 * Login ban (specification, "Authentication" 4): after 5 failures within 180 s an address is refused until the oldest
 * of them leaves the window. The number of addresses is bounded; each keeps at most 5 times.
 */
import { BlockList, isIPv6 } from 'node:net';
import { InvalidFieldError } from '../domain/index.ts';

export const BAN_WINDOW_MS = 180_000;
export const BAN_FAILURES = 5;
/** Number of addresses kept; the one with the oldest last failure is dropped first. */
const MAX_ADDRESSES = 50_000;
/** Attempts per address that may wait for earlier ones. */
const MAX_WAITING = 32;

interface Record {
  /** Times of the latest failures, oldest first. */
  readonly failures: number[];
  /** Attempts in progress. */
  running: number;
  readonly waiting: (() => void)[];
}

export type Admission =
  | { readonly admitted: true /** Tells the outcome; to be called once. */; done(failed: boolean): void }
  | { readonly admitted: false; readonly retryAfterSeconds: number };

export interface BanFilterOptions {
  /** Addresses and `address/prefix` networks exempt from the ban. */
  readonly allowList?: readonly string[] | undefined;
  readonly now?: (() => number) | undefined;
}

/** IPv4 unchanged, IPv4-mapped as IPv4, IPv6 by its /64: the network of one customer. */
export function banKey(ip: string): string {
  const address = ip.replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  // URL normalises to the shortest hexadecimal form; `::` is expanded to eight groups.
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

/**
 * Whether an address is on the list.
 * @param entries addresses and `address/prefix` networks
 * @throws InvalidFieldError for another entry
 */
export function allowedBy(entries: readonly string[]): (ip: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) addTo(list, entry);
  return (ip) => list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}

export class BanFilter {
  readonly #isAllowed: (ip: string) => boolean;
  readonly #now: () => number;
  readonly #records = new Map<string, Record>();
  readonly #listeners = new Set<(key: string, at: number) => void>();

  /** @throws InvalidFieldError for an invalid entry in the allow list */
  constructor(options: BanFilterOptions = {}) {
    this.#isAllowed = allowedBy(options.allowList ?? []);
    this.#now = options.now ?? Date.now;
  }

  /** Number of addresses kept. */
  get size(): number {
    return this.#records.size;
  }

  /** Seconds until `ip` may try again; 0: now. */
  retryAfter(ip: string): number {
    if (this.#isAllowed(ip)) return 0;
    const record = this.#records.get(banKey(ip));
    return record === undefined ? 0 : this.#retryAfter(record);
  }

  /** Counts a failure without admission, such as an unknown session id. */
  fail(ip: string): void {
    if (this.#isAllowed(ip)) return;
    const key = banKey(ip);
    const at = this.#now();
    this.note(key, at);
    for (const listener of this.#listeners) listener(key, at);
  }

  /** Calls back for each failure counted by this node, with the arguments for {@link note} on other nodes. */
  onFailure(listener: (key: string, at: number) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Counts a failure seen by another node.
   *
   * @param key of the address
   * @param at milliseconds since the epoch
   */
  note(key: string, at: number): void {
    const record = this.#records.get(key) ?? { failures: [], running: 0, waiting: [] };
    record.failures.push(at);
    record.failures.sort((a, b) => a - b);
    if (record.failures.length > BAN_FAILURES) record.failures.shift();
    // Inserted again, so that the map is ordered by last failure.
    this.#records.delete(key);
    this.#records.set(key, record);
    this.#forget();
  }

  /**
   * Requests an attempt at `ip`. Concurrent attempts cannot exceed the limit together: those beyond it wait for the
   * earlier ones, so that valid attempts still all succeed.
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

  /** Drops failures outside of the window, and the oldest addresses beyond the bound. */
  #forget(): void {
    for (const [key, record] of this.#records) {
      const busy = record.running > 0 || record.waiting.length > 0;
      const outdated = this.#recent(record) === 0;
      if (!busy && (outdated || this.#records.size > MAX_ADDRESSES)) this.#records.delete(key);
      else return;
    }
  }
}
