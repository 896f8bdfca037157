import type { ConferenceMix } from '../media/index.ts';
import { parseSipUri } from '../signalling/index.ts';
import type { Guest, Participant } from './participant.ts';
import type { ConferenceServices, RoomParty } from './ports.ts';
import type { RoomEvents } from './room-events.ts';
import type { RoomAddress } from './room-address.ts';
import type { RoomSettings } from './settings.ts';

/** Records a room by its settings: the whole mix into one file, each participant, or both. */
export class RoomRecording {
  readonly #services: ConferenceServices;
  readonly #room: { readonly confid: string; readonly address: RoomAddress; readonly settings: RoomSettings };
  readonly #mix: ConferenceMix;
  readonly #events: RoomEvents;
  /** Functions that end participants' recordings; undefined for unrecorded ones. */
  readonly #voices = new Map<Participant, Promise<(() => Promise<void>) | undefined>>();
  /** All participants so far, by URI. */
  readonly #parties = new Map<string, RoomParty>();
  #file: ReturnType<ConferenceServices['recordRoom']> | undefined;

  constructor(
    services: ConferenceServices,
    room: {
      readonly confid: string;
      readonly mix: ConferenceMix;
      readonly address: RoomAddress;
      readonly settings: RoomSettings;
    },
    events: RoomEvents,
  ) {
    this.#services = services;
    this.#room = room;
    this.#mix = room.mix;
    this.#events = events;
  }

  joined(participant: Participant): void {
    const { record } = this.#room.settings;
    if (record === 'conference' || record === 'both') {
      const party = partyOf(participant.admission.guest);
      this.#parties.set(party.uri, party);
      this.#file ??= this.#start();
    }
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
      .catch((err: unknown) => this.#services.log.error({ err }, 'ending the recording of a participant failed'));
  }

  /** The media server ends the recording with the conference. */
  ended(): void {
    this.#file?.then(
      (file) => {
        file.finish([...this.#parties.values()]);
        this.#events.recording(false, this.#room.confid);
      },
      () => {
        // Reported when starting it failed.
      },
    );
  }

  #start(): ReturnType<ConferenceServices['recordRoom']> {
    const { confid, address } = this.#room;
    const conference = { confid, domain: address.domain };
    const started = this.#services.recordRoom(conference, (file) => this.#mix.record(file));
    started.then(
      () => this.#events.recording(true, confid),
      (err: unknown) => this.#services.log.error({ err, confid }, 'the conference could not be recorded'),
    );
    return started;
  }

  async #startVoice(participant: Participant): Promise<(() => Promise<void>) | undefined> {
    const { confid, address } = this.#room;
    const dialogid = participant.line?.dialogid ?? '';
    try {
      const stop = await this.#services.recordVoice({ domain: address.domain, dialogid, layer: confid });
      this.#events.recording(true, confid, participant);
      return stop;
    } catch (err) {
      this.#services.log.error({ err, confid, dialogid }, 'a participant could not be recorded');
      return undefined;
    }
  }
}

/** A sipuser has two URIs, the one with the login first. */
function partyOf(guest: Guest): RoomParty {
  const [first = guest.ruri, second] = guest.uris();
  const [login, number] = second === undefined ? ['', first] : [first, second];
  const { user = '', host = '' } = parseSipUri(number) ?? {};
  return { number: user, login: parseSipUri(login)?.user ?? '', domain: host, uri: number };
}
