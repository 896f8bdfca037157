/** The conferences that are going on, by name. */
export class ConferenceTable {
  readonly #conferences = new Map<string, { mix(): void }>();

  get size(): number {
    return this.#conferences.size;
  }

  /** Handles one frame slot of every conference, before the channels'. */
  mix(): void {
    for (const conference of this.#conferences.values()) conference.mix();
  }
}
