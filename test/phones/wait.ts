/** Waiting for events that happen once, before or after the wait starts. No polling. */

/** The awaited event did not happen in time, or can no longer happen. */
export class WaitError extends Error {
  override readonly name = 'WaitError';
}

interface Waiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** An event that happens at most once, with a value, e.g. the answer to a call. */
export class Moment<T> {
  readonly #label: string;
  readonly #waiters = new Set<Waiter<T>>();
  #reached: { readonly value: T } | undefined;
  #over: string | undefined;

  constructor(label: string) {
    this.#label = label;
  }

  /** The value, or undefined until it happens. */
  get value(): T | undefined {
    return this.#reached?.value;
  }

  get reached(): boolean {
    return this.#reached !== undefined;
  }

  reach(value: T): void {
    if (this.#reached !== undefined) return;
    this.#reached = { value };
    for (const waiter of this.#waiters) waiter.resolve(value);
  }

  /** The event can no longer happen: all present and later waits reject with the reason. */
  miss(why: string): void {
    this.#over ??= why;
    for (const waiter of this.#waiters) waiter.reject(new WaitError(`${this.#label}: ${why}`));
  }

  /** @throws WaitError after `withinMs`, or when it can no longer happen */
  async wait(withinMs: number): Promise<T> {
    if (this.#reached !== undefined) return this.#reached.value;
    if (this.#over !== undefined) throw new WaitError(`${this.#label}: ${this.#over}`);
    return waitFor(this.#waiters, withinMs, `${this.#label}: not within ${withinMs} ms`);
  }
}

async function waitFor<T>(waiters: Set<Waiter<T>>, withinMs: number, late: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const waiter = { resolve, reject };
  waiters.add(waiter);
  const timer = setTimeout(() => reject(new WaitError(late)), withinMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    waiters.delete(waiter);
  }
}

/** An awaitable queue, e.g. of incoming calls. */
export class Arrivals<T> {
  readonly #items: T[] = [];
  readonly #waiters = new Set<Waiter<T>>();
  readonly #label: string;

  constructor(label: string) {
    this.#label = label;
  }

  get pending(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const [waiter] = this.#waiters;
    if (waiter === undefined) {
      this.#items.push(item);
      return;
    }
    this.#waiters.delete(waiter);
    waiter.resolve(item);
  }

  /** @throws WaitError after `withinMs` */
  async next(withinMs: number): Promise<T> {
    const first = this.#items.shift();
    if (first !== undefined) return first;
    return waitFor(this.#waiters, withinMs, `${this.#label}: none within ${withinMs} ms`);
  }
}

/** Lets real time pass: only to observe that an event does not happen, never to wait for one. */
export function observeFor(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, milliseconds);
  return promise;
}
