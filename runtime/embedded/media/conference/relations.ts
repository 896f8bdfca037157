/** Who may not hear whom: pairs of member ids, as `relate` sets them. */
export class Relations {
  readonly #blocked = new Map<number, Set<number>>();

  /** Whether nothing is blocked: the mixer then takes the short way. */
  get empty(): boolean {
    return this.#blocked.size === 0;
  }

  /** Whether `listener` is kept from hearing `speaker`. */
  blocks(listener: number, speaker: number): boolean {
    return this.#blocked.get(listener)?.has(speaker) === true;
  }

  /** Whether anyone is kept from `listener`. */
  concerns(listener: number): boolean {
    return this.#blocked.has(listener);
  }

  /** `relate <member> <other> nospeak`: `other` does not hear `member`; `nohear`: `member` does not hear `other`. */
  set(member: number, other: number, kind: 'nospeak' | 'nohear'): void {
    const [listener, speaker] = kind === 'nohear' ? [member, other] : [other, member];
    let speakers = this.#blocked.get(listener);
    if (speakers === undefined) {
      speakers = new Set();
      this.#blocked.set(listener, speakers);
    }
    speakers.add(speaker);
  }

  /** `relate <member> <other> clear`: what `member` has set about `other`, in both directions. */
  clear(member: number, other: number): void {
    this.#remove(member, other);
    this.#remove(other, member);
  }

  /** A member has left: nothing said about it or by it stays. */
  forget(member: number): void {
    this.#blocked.delete(member);
    for (const listener of this.#blocked.keys()) this.#remove(listener, member);
  }

  #remove(listener: number, speaker: number): void {
    const speakers = this.#blocked.get(listener);
    if (speakers === undefined) return;
    speakers.delete(speaker);
    if (speakers.size === 0) this.#blocked.delete(listener);
  }
}
