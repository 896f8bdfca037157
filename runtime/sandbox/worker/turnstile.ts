/** Places for active runs in a process. */
export interface Places {
  readonly all: number;
  /** Places for new families and for families whose last turn was long. */
  readonly long: number;
  /** Of these, places for runs inside for less than `STAY_MS`: for new families, and for others. */
  readonly fresh: number;
  /** Places of one family. */
  readonly ofOne: number;
}

/** Milliseconds, and what comes after some. */
export interface Clock {
  now(): number;
  /** @returns cancels the timer */
  after(milliseconds: number, then: () => void): () => void;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  after: (milliseconds, then) => {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Releases the place, once. @param usedMs milliseconds of processor time used inside */
export type Leave = (usedMs: number) => void;

/** Last turn of a family: shorter than `BRIEF_MS`, or longer. */
type Kind = 'new' | 'brief' | 'long';

/** Runs of one scenario. */
interface Family {
  /** Milliseconds of processor time as of `at`; older usage counts less. */
  used: number;
  at: number;
  inside: number;
  kind: Kind;
  /** Runs in order of admission. */
  readonly waiting: Waiting[];
}

interface Waiting {
  /** Usage in units of `BRIEF_MS`. */
  readonly rank: number;
  readonly enter: (leave: Leave) => void;
}

/** Short turns take less than this many milliseconds of processor time. */
export const BRIEF_MS = 50;
/**
 * Milliseconds for which a long turn blocks others: together they would only take longer, and each would delay other
 * users of the processor. A turn that does not end soon, because its thread is blocked, does not block others forever.
 */
export const STAY_MS = 1000;
/** Half-life of a family's usage in milliseconds. */
const HALF_LIFE_MS = 5000;

/**
 * Admits a limited number of runs at once. With a thread each, all would share the processor evenly: then a hundred
 * computing runs leave a hundredth to the one that only adds two numbers. Here families take turns: the least used one
 * comes first, and within it the least used run, then the first to arrive. Families with short turns do not wait for
 * long ones to end, because these leave some places free.
 */
export class Turnstile {
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #families = new Map<string, Family>();
  /** Families with waiting runs. */
  readonly #waiting = new Set<Family>();
  #inside = 0;
  #long = 0;
  readonly #fresh = { new: 0, long: 0 };

  constructor(places: Places, clock: Clock = CLOCK) {
    this.#places = places;
    this.#clock = clock;
  }

  /**
   * Resolves when the run is admitted.
   * @param key of its family
   * @param usedMs milliseconds of processor time used by the run before
   */
  enter(key: string, usedMs: number): Promise<Leave> {
    const family = this.#family(key);
    const { promise, resolve } = Promise.withResolvers<Leave>();
    const rank = Math.floor(usedMs / BRIEF_MS);
    const last = family.waiting.findLastIndex((other) => other.rank <= rank);
    family.waiting.splice(last + 1, 0, { rank, enter: resolve });
    this.#waiting.add(family);
    this.#letIn();
    return promise;
  }

  #letIn(): void {
    for (let family = this.#next(); family; family = this.#next()) {
      const first = family.waiting.shift();
      if (family.waiting.length === 0) this.#waiting.delete(family);
      first?.enter(this.#admit(family));
    }
  }

  #next(): Family | undefined {
    let next: Family | undefined;
    let least = Infinity;
    for (const family of this.#waiting) {
      const used = this.#used(family);
      if (used >= least || !this.#hasPlace(family)) continue;
      next = family;
      least = used;
    }
    return next;
  }

  #hasPlace({ inside, kind }: Family): boolean {
    const { all, long, fresh, ofOne } = this.#places;
    if (inside >= ofOne || this.#inside >= all) return false;
    return kind === 'brief' || (this.#long < long && this.#fresh[kind] < fresh);
  }

  #admit(family: Family): Leave {
    let isInside = true;
    const { kind } = family;
    const long = kind === 'brief' ? 0 : 1;
    const settle = kind === 'brief' ? () => undefined : this.#keepOthersOut(kind);
    family.inside += 1;
    this.#inside += 1;
    this.#long += long;
    return (usedMs) => {
      if (!isInside) return;
      isInside = false;
      settle();
      family.inside -= 1;
      this.#inside -= 1;
      this.#long -= long;
      family.used = this.#used(family) + usedMs;
      if (usedMs > 0) family.kind = usedMs < BRIEF_MS ? 'brief' : 'long';
      this.#letIn();
    };
  }

  /** @returns cancels it, if it has not fired */
  #keepOthersOut(kind: 'new' | 'long'): () => void {
    let isFresh = true;
    this.#fresh[kind] += 1;
    const settle = (): void => {
      if (!isFresh) return;
      isFresh = false;
      this.#fresh[kind] -= 1;
      cancel();
    };
    const cancel = this.#clock.after(STAY_MS, () => {
      settle();
      this.#letIn();
    });
    return settle;
  }

  /** Processor time used up to now. */
  #used(family: Family): number {
    const now = this.#clock.now();
    family.used *= 0.5 ** ((now - family.at) / HALF_LIFE_MS);
    family.at = now;
    return family.used;
  }

  #family(key: string): Family {
    const known = this.#families.get(key);
    if (known) return known;
    for (const [other, family] of this.#families) {
      if (family.inside + family.waiting.length === 0 && this.#used(family) < 1) this.#families.delete(other);
    }
    const family: Family = { used: 0, at: this.#clock.now(), inside: 0, kind: 'new', waiting: [] };
    this.#families.set(key, family);
    return family;
  }
}
