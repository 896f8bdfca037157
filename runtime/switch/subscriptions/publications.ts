/** Published states (RFC 3903): each lasts for a time, and has a tag that its next change names. */
import { randomBytes } from 'node:crypto';

/** Publications of one owner: one a device. */
const MAX_OF_OWNER = 10;
/** Publications of a node. */
const MAX_OF_NODE = 20_000;

/** The new tag of a publication; or its refusal: its tag is unknown, it has no state, its owner has too many. */
export type Published = { readonly tag: string } | 'unknown' | 'empty' | 'full';

interface Publication<State> {
  readonly owner: string;
  readonly state: State;
  readonly timer: NodeJS.Timeout;
}

/** The published states of a node, by owner. They end with the process: phones publish them anew. */
export class Publications<State> {
  /** By entity tag. */
  readonly #byTag = new Map<string, Publication<State>>();
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #changed: (owner: string) => void;
  readonly #prefix: string;

  /**
   * @param changed called when the states of an owner have changed
   * @param prefix of its tags
   */
  constructor(changed: (owner: string) => void, prefix = '') {
    this.#changed = changed;
    this.#prefix = prefix;
  }

  /** The oldest first. */
  of(owner: string): readonly State[] {
    return [...(this.#byOwner.get(owner) ?? [])].flatMap((tag) => this.#byTag.get(tag)?.state ?? []);
  }

  get count(): number {
    return this.#byTag.size;
  }

  /**
   * Publishes a state, or prolongs, changes or removes one.
   * @param tag of the former publication; undefined: a new one
   * @param state undefined: the former one
   * @param seconds 0: removes it
   * @returns its new tag; or the refusal
   */
  publish(owner: string, tag: string | undefined, state: State | undefined, seconds: number): Published {
    const former = tag === undefined ? undefined : this.#byTag.get(tag);
    if (tag !== undefined && former?.owner !== owner) return 'unknown';
    const next = state ?? former?.state;
    if (next === undefined) return 'empty';
    const full = (this.#byOwner.get(owner)?.size ?? 0) >= MAX_OF_OWNER || this.#byTag.size >= MAX_OF_NODE;
    if (former === undefined && full) return 'full';
    if (tag !== undefined) this.#remove(tag);
    const made = `${this.#prefix}${randomBytes(12).toString('base64url')}`;
    if (seconds > 0) {
      const timer = setTimeout(() => {
        this.#remove(made);
        this.#changed(owner);
      }, seconds * 1000).unref();
      this.#byTag.set(made, { owner, state: next, timer });
      this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(made));
    }
    this.#changed(owner);
    return { tag: made };
  }

  close(): void {
    for (const { timer } of this.#byTag.values()) clearTimeout(timer);
    this.#byTag.clear();
    this.#byOwner.clear();
  }

  #remove(tag: string): void {
    const publication = this.#byTag.get(tag);
    if (publication === undefined) return;
    clearTimeout(publication.timer);
    this.#byTag.delete(tag);
    const others = this.#byOwner.get(publication.owner);
    if (others?.delete(tag) === true && others.size === 0) this.#byOwner.delete(publication.owner);
  }
}
