/** Relations between members: who does not hear whom. */

/** The relation of one member to another. */
export interface Relation {
  /** The other does not hear the member. */
  readonly nospeak: boolean;
  /** The member does not hear the other. */
  readonly nohear: boolean;
  /** Only shown, because there is no video. */
  readonly sendvideo?: boolean;
}

/** The relations set by `relate`: one for each ordered pair of member ids. */
export class Relations {
  readonly #relations = new Map<number, Map<number, Relation>>();

  /** True without relations: the mixer then needs no checks. */
  get empty(): boolean {
    return this.#relations.size === 0;
  }

  /** The relations of a member, the latest first. */
  of(member: number): { readonly member: number; readonly other: number; readonly relation: Relation }[] {
    const others = [...(this.#relations.get(member) ?? [])].toReversed();
    return others.map(([other, relation]) => ({ member, other, relation }));
  }

  /** Whether a relation of either member keeps `listener` from hearing `speaker`. */
  blocks(listener: number, speaker: number): boolean {
    return (
      this.#relations.get(speaker)?.get(listener)?.nospeak === true ||
      this.#relations.get(listener)?.get(speaker)?.nohear === true
    );
  }

  /** Sets the relation of `member` to `other`, in place of an earlier one. */
  set(member: number, other: number, relation: Relation): void {
    let others = this.#relations.get(member);
    if (others === undefined) {
      others = new Map();
      this.#relations.set(member, others);
    }
    others.set(other, relation);
  }

  /** Removes the relation of `member` to `other`. */
  clear(member: number, other: number): void {
    const others = this.#relations.get(member);
    if (others === undefined) return;
    others.delete(other);
    if (others.size === 0) this.#relations.delete(member);
  }

  /** Removes all relations of and to a member that has left. */
  forget(member: number): void {
    this.#relations.delete(member);
    for (const other of this.#relations.keys()) this.clear(other, member);
  }
}
