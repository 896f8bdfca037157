import { reportFault } from '../core/fault.ts';
import type { Channel } from '../channel/channel.ts';
import { Conference, type ConferenceKeeper } from './conference.ts';
import type { ConferenceEntry } from './entry.ts';
import type { Member } from './member.ts';

/** The live conferences, by name. */
export class ConferenceTable implements ConferenceKeeper {
  readonly #conferences = new Map<string, Conference>();
  /** Member ids count over all conferences. A channel that enters again keeps its id. */
  #lastMemberId = 0;
  readonly #memberIds = new WeakMap<Channel, number>();

  get size(): number {
    return this.#conferences.size;
  }

  get(name: string): Conference | undefined {
    return this.#conferences.get(name);
  }

  all(): Conference[] {
    return [...this.#conferences.values()];
  }

  /** Handles one frame slot of the conferences with this turn, before that of their members. */
  mix(turn: number): void {
    for (const conference of this.#conferences.values()) {
      if (conference.turn !== turn) continue;
      try {
        conference.mix();
      } catch (error) {
        // A defect ends only its conference.
        reportFault(`conference ${conference.name}`, error);
        for (const member of conference.members.slice()) member.channel.hangup('NORMAL_TEMPORARY_FAILURE', 'api');
      }
    }
  }

  /**
   * Adds a channel to a conference. The first channel creates it.
   *
   * @returns undefined when the channel is not admitted: locked, full, wrong pin, or `join-only` without a conference
   */
  join(channel: Channel, entry: ConferenceEntry): Member | undefined {
    let conference = this.#conferences.get(entry.name);
    if (conference === undefined) {
      if (entry.flags.has('join-only')) return undefined;
      const turn = channel.core.turns.turnOf(channel);
      conference = new Conference(channel.core, entry, turn, this);
      this.#conferences.set(entry.name, conference);
    } else if (!conference.admits(entry)) return undefined;
    const id = this.#memberIds.get(channel) ?? this.nextMemberId();
    this.#memberIds.set(channel, id);
    return conference.add(channel, id, entry);
  }

  /** Forgets a conference that has ended. */
  remove(conference: Conference): void {
    if (this.#conferences.get(conference.name) === conference) this.#conferences.delete(conference.name);
  }

  /** The id of the next member; recordings take one too. */
  nextMemberId(): number {
    this.#lastMemberId += 1;
    return this.#lastMemberId;
  }
}
