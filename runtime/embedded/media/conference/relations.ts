/** What one member has set about another. */
export interface Relation {
  /** The other does not hear the member. */
  readonly nospeak: boolean;
  /** The member does not hear the other. */
  readonly nohear: boolean;
  /** Only shown: there is no video. */
  readonly sendvideo?: boolean;
}

/** Who may not hear whom, as `relate` sets it: one relation for each ordered pair of member ids. */
export class Relations {
  readonly #relations = new Map<number, Map<number, Relation>>();

  /** Whether there is none: the mixer then takes the short way. */
  get empty(): boolean {
    return this.#relations.size === 0;
  }

  /** What a member has set, the latest first. */
  of(member: number): { readonly member: number; readonly other: number; readonly relation: Relation }[] {
    const others = [...(this.#relations.get(member) ?? [])].toReversed();
    return others.map(([other, relation]) => ({ member, other, relation }));
  }

  /** Whether `listener` is kept from hearing `speaker`, by either of them. */
  blocks(listener: number, speaker: number): boolean {
    return (
      this.#relations.get(speaker)?.get(listener)?.nospeak === true ||
      this.#relations.get(listener)?.get(speaker)?.nohear === true
    );
  }

  /** Sets what `member` has to do with `other`; what it had set before is replaced. */
  set(member: number, other: number, relation: Relation): void {
    let others = this.#relations.get(member);
    if (others === undefined) {
      others = new Map();
      this.#relations.set(member, others);
    }
    others.set(other, relation);
  }

  /** Takes back what `member` has set about `other`. */
  clear(member: number, other: number): void {
    const others = this.#relations.get(member);
    if (others === undefined) return;
    others.delete(other);
    if (others.size === 0) this.#relations.delete(member);
  }

  /** A member has left: nothing said about it or by it stays. */
  forget(member: number): void {
    this.#relations.delete(member);
    for (const other of this.#relations.keys()) this.clear(other, member);
  }
}
