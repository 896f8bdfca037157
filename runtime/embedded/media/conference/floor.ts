import type { ConferenceEvents, Member } from './member.ts';

/** A holder with less has fallen silent; another with more has begun to speak. Scores of the talk detector. */
const SILENT_BELOW = 100;
const SPEAKING_ABOVE = 300;

/** Who has the floor: it stays with its holder until he has fallen silent and another one speaks. */
export class Floor {
  readonly #members: readonly Member[];
  readonly #events: ConferenceEvents;
  #holder: Member | undefined;

  /** @param members of the conference at any time, the newest last */
  constructor(members: readonly Member[], events: ConferenceEvents) {
    this.#members = members;
    this.#events = events;
  }

  get holder(): Member | undefined {
    return this.#holder;
  }

  /** Looks at who talks, once a frame. */
  update(): void {
    const holder = this.#holder;
    // The newest member comes first, as in the real server's list.
    if (holder === undefined) {
      const newest = this.#members.at(-1);
      if (newest !== undefined) this.give(newest);
    } else if (holder.score < SILENT_BELOW) {
      const speaker = this.#members.findLast((member) => member !== holder && member.score > SPEAKING_ABOVE);
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
    this.#events.publish('floor-change', member, ids);
  }

  #free(oldId: string): void {
    this.#holder = undefined;
    this.#events.publish('floor-change', undefined, { 'Old-ID': oldId, 'New-ID': 'none' });
  }
}
