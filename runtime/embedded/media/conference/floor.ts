import type { Conference } from './conference.ts';
import type { Member } from './member.ts';

/** A holder with less has fallen silent; another with more has begun to speak. Scores of the talk detector. */
const SILENT_BELOW = 100;
const SPEAKING_ABOVE = 300;

/** Who has the floor: it stays with its holder until he has fallen silent and another one speaks. */
export class Floor {
  readonly #conference: Conference;
  #holder: Member | undefined;

  constructor(conference: Conference) {
    this.#conference = conference;
  }

  get holder(): Member | undefined {
    return this.#holder;
  }

  /** Looks at who talks, once a frame. */
  update(): void {
    const { members } = this.#conference;
    const holder = this.#holder;
    // The newest member comes first, as in the real server's list.
    if (holder === undefined) {
      const newest = members.at(-1);
      if (newest !== undefined) this.give(newest);
    } else if (holder.score < SILENT_BELOW) {
      const speaker = members.findLast((member) => member !== holder && member.score > SPEAKING_ABOVE);
      if (speaker !== undefined) this.give(speaker);
    }
  }

  /** Takes it from its holder; `update` gives it to the next. */
  drop(): void {
    this.#free(String(this.#holder?.id ?? 'none'));
  }

  /** A member leaves. */
  left(member: Member): void {
    if (this.#holder === member) this.#free('none');
  }

  /** Gives it to a member, whoever has it. */
  give(member: Member): void {
    const old = this.#holder;
    if (old === member) return;
    this.#holder = member;
    member.resetScore();
    const ids = { 'Old-ID': old === undefined ? 'none' : String(old.id), 'New-ID': String(member.id) };
    this.#conference.publish('floor-change', member, ids);
  }

  #free(oldId: string): void {
    this.#holder = undefined;
    this.#conference.publish('floor-change', undefined, { 'Old-ID': oldId, 'New-ID': 'none' });
  }
}
