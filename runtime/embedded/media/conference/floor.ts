import type { Conference } from './conference.ts';
import type { Member } from './member.ts';

/** Who has the floor: it stays with its holder while he talks, and goes to the next one who does. */
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
    if (holder?.talking === true && !holder.muted) return;
    const talker = members.find((member) => member.talking && !member.muted);
    if (talker !== undefined) this.give(talker);
    else if (holder === undefined && members[0] !== undefined) this.give(members[0]);
  }

  /** A member has left. */
  left(member: Member): void {
    if (this.#holder !== member) return;
    this.#holder = undefined;
    this.#conference.publish('floor-change', undefined, { 'Old-ID': 'none', 'New-ID': 'none' });
  }

  /** Gives it to a member, whoever has it. */
  give(member: Member): void {
    const old = this.#holder;
    if (old === member) return;
    this.#holder = member;
    const ids = { 'Old-ID': old === undefined ? 'none' : String(old.id), 'New-ID': String(member.id) };
    this.#conference.publish('floor-change', member, ids);
  }
}
