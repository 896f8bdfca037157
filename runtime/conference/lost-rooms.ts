/** Conferences of dead nodes, which end with them. */
import type { SharedFarewell } from '../callstore/index.ts';
import type { ConferenceEvents } from './ports.ts';

export class LostRooms {
  readonly #events: ConferenceEvents;
  readonly #told = new Set<string>();

  constructor(events: ConferenceEvents) {
    this.#events = events;
  }

  /** Tells the end of a participant or of a conference. */
  tell({ id, domain, type, data, users }: SharedFarewell): void {
    this.#told.add(id);
    this.#events.emit(domain, type, data, users);
  }

  /** Which of these this node has told, for their node if it only stood still. */
  told(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#told.has(id));
  }
}
