/** Places in a process for runs that work, or are about to. */
export interface Places {
  readonly all: number;
  /** What families may have of them whose last turn was a long one, or that are new. */
  readonly long: number;
  /** Of these, those that have been inside for less than `STAY_MS`: so many of new families, and so many of others. */
  readonly fresh: number;
  /** What one family may have. */
  readonly ofOne: number;
}

/** Milliseconds, and what comes after some. */
export interface Clock {
  now(): number;
  /** @returns calls it off */
  after(milliseconds: number, then: () => void): () => void;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  after: (milliseconds, then) => {
    const timer = setTimeout(then, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Lets a run out: called twice it does nothing more. @param usedMs milliseconds of processor time that it has used inside */
export type Leave = (usedMs: number) => void;

/** What the last turn of a family took of the processor: less than `BRIEF_MS`, or more. */
type Kind = 'new' | 'brief' | 'long';

/** Runs of one scenario. */
interface Family {
  /** Milliseconds of processor time, at `at`: the longer ago it was used, the less it counts. */
  used: number;
  at: number;
  inside: number;
  kind: Kind;
  /** In the order in which they come in. */
  readonly waiting: Waiting[];
}

interface Waiting {
  /** How many times `BRIEF_MS` it has used. */
  readonly rank: number;
  readonly enter: (leave: Leave) => void;
}

/** Milliseconds of processor time that short turns take less than. */
export const BRIEF_MS = 50;
/**
 * Milliseconds for which a long turn keeps others out: together they would only take longer, and whoever shares the processor with
 * them is made to wait by each. One that does not end soon, as its thread is blocked, does not keep them out for ever.
 */
export const STAY_MS = 1000;
/** Milliseconds after which half of what a family has used is forgotten. */
const HALF_LIFE_MS = 5000;

/**
 * Lets runs in to work, so many at once. As many threads as wanted to work would share the processor evenly: then a hundred runs
 * that compute leave a hundredth of it to the one that only adds two numbers. Here families take turns: the one that has used
 * least comes first, and of its runs those that have used little, in the order in which they came. Families whose turns are short
 * need not wait for long ones to end: these leave some places free.
 */
export class Turnstile {
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #families = new Map<string, Family>();
  /** Of whom somebody waits. */
  readonly #waiting = new Set<Family>();
  #inside = 0;
  #long = 0;
  readonly #fresh = { new: 0, long: 0 };

  constructor(places: Places, clock: Clock = CLOCK) {
    this.#places = places;
    this.#clock = clock;
  }

  /**
   * Resolves when the run is inside.
   * @param key of its family
   * @param usedMs milliseconds of processor time that the run has used before
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

  /** @returns ends it, if it has not ended by itself */
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

  /** Of the processor, up to now. */
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
