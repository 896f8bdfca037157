/** The floor of a conference: who is shown as speaking. */
import type { ConferenceEvents, Member } from './member.ts';

/** Limits of the talk detector's score: below, the holder has fallen silent; above, another member is speaking. */
const SILENT_BELOW = 100;
const SPEAKING_ABOVE = 300;

/** The floor of a conference. Its holder keeps it until the holder has fallen silent and another member speaks. */
export class Floor {
  readonly #members: readonly Member[];
  readonly #events: ConferenceEvents;
  #holder: Member | undefined;

  /** @param members the live list of the conference's members, the newest last */
  constructor(members: readonly Member[], events: ConferenceEvents) {
    this.#members = members;
    this.#events = events;
  }

  get holder(): Member | undefined {
    return this.#holder;
  }

  /** Updates the holder, once a frame. */
  update(): void {
    const holder = this.#holder;
    // The newest member comes first, as in FreeSWITCH's list.
    if (holder === undefined) {
      const newest = this.#members.at(-1);
      if (newest !== undefined) this.give(newest);
    } else if (holder.score < SILENT_BELOW) {
      const speaker = this.#members.findLast((member) => member !== holder && member.score > SPEAKING_ABOVE);
      if (speaker !== undefined) this.give(speaker);
    }
  }

  /** Takes the floor from its holder; `update` gives it to the next one. */
  drop(): void {
    this.#free(String(this.#holder?.id ?? 'none'));
  }

  /** Takes the floor from a member that leaves. */
  left(member: Member): void {
    if (this.#holder === member) this.#free('none');
  }

  /** Gives the floor to a member. */
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
