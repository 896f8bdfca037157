/** Places in a process for runs that work, or are about to. */
export interface Places {
  readonly all: number;
  /** What families may have of them whose last turn was a long one, or that are new. */
  readonly long: number;
  /** What one family may have. */
  readonly ofOne: number;
}

/** Lets a run out: called twice it does nothing more. @param usedMs milliseconds of processor time that it has used inside */
export type Leave = (usedMs: number) => void;

/** Runs of one scenario. */
interface Family {
  /** Milliseconds of processor time, at `at`: the longer ago it was used, the less it counts. */
  used: number;
  at: number;
  inside: number;
  /** Its last turn took less than `BRIEF_MS` of processor time. */
  isBrief: boolean;
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
  readonly #now: () => number;
  readonly #families = new Map<string, Family>();
  /** Of whom somebody waits. */
  readonly #waiting = new Set<Family>();
  #inside = 0;
  #long = 0;

  /** @param now milliseconds */
  constructor(places: Places, now: () => number = () => performance.now()) {
    this.#places = places;
    this.#now = now;
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

  #hasPlace({ inside, isBrief }: Family): boolean {
    const { all, long, ofOne } = this.#places;
    return inside < ofOne && this.#inside < all && (isBrief || this.#long < long);
  }

  #admit(family: Family): Leave {
    let isInside = true;
    const long = family.isBrief ? 0 : 1;
    family.inside += 1;
    this.#inside += 1;
    this.#long += long;
    return (usedMs) => {
      if (!isInside) return;
      isInside = false;
      family.inside -= 1;
      this.#inside -= 1;
      this.#long -= long;
      family.used = this.#used(family) + usedMs;
      if (usedMs > 0) family.isBrief = usedMs < BRIEF_MS;
      this.#letIn();
    };
  }

  /** Of the processor, up to now. */
  #used(family: Family): number {
    const now = this.#now();
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
    const family = { used: 0, at: this.#now(), inside: 0, isBrief: false, waiting: [] };
    this.#families.set(key, family);
    return family;
  }
}
