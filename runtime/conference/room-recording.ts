import type { ConferenceMix } from '../media/conference-mix.ts';
import type { Participant } from './participant.ts';
import type { ConferenceServices } from './ports.ts';
import type { RoomEvents } from './room-events.ts';
import type { RoomAddress } from './room.ts';
import type { RoomSettings } from './settings.ts';

/** Records a room as its settings ask: all of it into one file, each participant into the archive, or both. */
export class RoomRecording {
  readonly #services: ConferenceServices;
  readonly #room: { readonly confid: string; readonly address: RoomAddress; readonly settings: RoomSettings };
  readonly #mix: ConferenceMix;
  readonly #events: RoomEvents;
  /** What ends the recording of each participant; undefined where there is none. */
  readonly #voices = new Map<Participant, Promise<(() => Promise<void>) | undefined>>();
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

  joined(participant: Participant): void {
    const { record } = this.#room.settings;
    if (record === 'conference' || record === 'both') this.#file ??= this.#start();
    if (record === 'participants' || record === 'both') {
      if (!this.#voices.has(participant)) this.#voices.set(participant, this.#startVoice(participant));
    }
  }

  left(participant: Participant): void {
    const voice = this.#voices.get(participant);
    this.#voices.delete(participant);
    voice
      ?.then(async (stop) => {
        if (stop === undefined) return;
        await stop();
        this.#events.recording(false, this.#room.confid, participant);
      })
      .catch((err: unknown) => this.#services.log.error({ err }, 'the recording of a participant did not end well'));
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

  async #startVoice(participant: Participant): Promise<(() => Promise<void>) | undefined> {
    const { confid, address } = this.#room;
    const dialogid = participant.line?.dialogid ?? '';
    try {
      const stop = await this.#services.recordVoice({ domain: address.domain, dialogid, layer: confid });
      this.#events.recording(true, confid, participant);
      return stop;
    } catch (err) {
      this.#services.log.error({ err, confid, dialogid }, 'a participant is not recorded');
      return undefined;
    }
  }
}
