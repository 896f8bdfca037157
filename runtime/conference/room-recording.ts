import type { ConferenceMix } from '../media/conference-mix.ts';
import type { Participant } from './participant.ts';
import type { ConferenceServices } from './ports.ts';
import type { RoomEvents } from './room-events.ts';
import type { RoomAddress } from './room.ts';
import type { RoomSettings } from './settings.ts';

/** Records a room as its settings ask: all of it into one file. */
export class RoomRecording {
  readonly #services: ConferenceServices;
  readonly #room: { readonly confid: string; readonly address: RoomAddress; readonly settings: RoomSettings };
  readonly #mix: ConferenceMix;
  readonly #events: RoomEvents;
  #file: Promise<string | undefined> | undefined;

  constructor(
    services: ConferenceServices,
    room: { readonly confid: string; readonly address: RoomAddress; readonly settings: RoomSettings },
    events: RoomEvents,
  ) {
    this.#services = services;
    this.#room = room;
    this.#mix = services.mix(room.confid);
    this.#events = events;
  }

  joined(_participant: Participant): void {
    const { record } = this.#room.settings;
    if (record === 'conference' || record === 'both') this.#file ??= this.#start();
  }

  left(_participant: Participant): void {
    // The whole conference goes on.
  }

  /** The media server ends its recording with its conference. */
  ended(): void {
    void this.#file?.then((file) => {
      if (file !== undefined) this.#events.recording(false, file);
    });
  }

  async #start(): Promise<string | undefined> {
    const { confid, address } = this.#room;
    const name = `${confid}.wav`;
    try {
      await this.#mix.startRecording(await this.#services.recording(address.domain, name));
      this.#events.recording(true, name);
      return name;
    } catch (err) {
      this.#services.log.error({ err, confid }, 'the conference is not recorded');
      return undefined;
    }
  }
}
