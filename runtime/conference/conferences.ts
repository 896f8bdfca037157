import { randomInt } from 'node:crypto';
import type { MemoryConferenceStore } from '../callstore/index.ts';
import type { FeatureCode } from '../domain/index.ts';
import type { EndpointServer } from '../media/index.ts';
import { bracketUri } from '../signalling/index.ts';
import type { Admission, Guest, Participant } from './participant.ts';
import { asksForPin } from './pin.ts';
import type { ConferenceServices } from './ports.ts';
import { Room } from './room.ts';
import type { RoomAddress } from './room-address.ts';
import { roomSettings } from './settings.ts';

/** Somebody at a room's door. */
export interface Entrance {
  /** The featurecode of the room: its domain is the conference's. */
  readonly featureCode: FeatureCode;
  /** Digits after the featurecode; empty: a fresh room. */
  readonly room: string;
  /** Number by which the caller is known. */
  readonly number: string;
  readonly guest: Guest;
  /** He was brought by the platform on somebody's behalf who may do that: no PIN. */
  readonly brought: boolean;
  readonly moderator?: boolean;
  readonly muted?: boolean;
  /** Whose place he takes: one who leaves when he is in. */
  readonly instead?: Participant;
  /** Where his sound is, when he has any yet. */
  readonly mediaServer?: EndpointServer | undefined;
}

export interface Entered {
  readonly room: Room;
  readonly participant: Participant;
}

/** Digits of a fresh room's number. */
const FRESH_DIGITS = 6;

/** The conf role of a node: its live rooms. */
export class Conferences {
  readonly #services: ConferenceServices;
  readonly #store: MemoryConferenceStore;
  readonly #rooms = new Map<string, Room>();
  readonly #byNumber = new Map<string, Room>();

  constructor(services: ConferenceServices, store: MemoryConferenceStore) {
    this.#services = services;
    this.#store = store;
  }

  /** Live rooms. */
  get count(): number {
    return this.#rooms.size;
  }

  /** Who is in the mix of one of them. Takes time by their number. */
  get members(): number {
    let members = 0;
    for (const room of this.#rooms.values()) members += room.members;
    return members;
  }

  room(confid: string): Room | undefined {
    return this.#rooms.get(confid);
  }

  /** The room behind a number, while there is one. */
  roomAt(domain: string, number: string): Room | undefined {
    return this.#byNumber.get(numberKey(domain, number));
  }

  /** A number after the featurecode that no live room has. */
  freshRoom({ domain, prefix }: FeatureCode): string {
    for (;;) {
      const digits = String(randomInt(10 ** (FRESH_DIGITS - 1), 10 ** FRESH_DIGITS));
      if (this.roomAt(domain, prefix + digits) === undefined) return digits;
    }
  }

  /**
   * Lets somebody in; makes the room when he is the first.
   * @returns undefined when the room is full
   * @throws MediaError when there is no media server for a new room
   */
  enter({
    featureCode,
    room,
    number,
    guest,
    brought,
    moderator,
    muted,
    instead,
    mediaServer,
  }: Entrance): Entered | undefined {
    const to = this.#open(featureCode, room === '' ? this.freshRoom(featureCode) : room, mediaServer);
    const admission: Admission = {
      guest,
      invited: false,
      asksPin: !brought && asksForPin(to.settings),
      moderator: moderator === true || to.settings.moderators.includes(number),
      muted: muted === true,
    };
    const participant = to.admit(admission, instead);
    return participant === undefined ? undefined : { room: to, participant };
  }

  /**
   * Keeps a place for somebody who is to be called from the room; he is a participant as soon as his call is there.
   * @param number by which he is called
   * @param scenario a scenario has that number
   * @returns undefined when the room is full or over
   */
  invite(room: Room, number: string, guest: Guest, scenario: boolean): Participant | undefined {
    const moderator = room.settings.moderators.includes(number);
    return room.admit({ guest, invited: true, asksPin: false, moderator, muted: false, scenario });
  }

  #open(featureCode: FeatureCode, confroomnum: string, on: EndpointServer | undefined): Room {
    const { domain, prefix } = featureCode;
    const number = prefix + confroomnum;
    const known = this.roomAt(domain, number);
    if (known !== undefined) return known;
    const address: RoomAddress = { domain, confroomnum, number, uri: bracketUri(number, domain) };
    const room = new Room(this.#services, address, roomSettings(featureCode), on, {
      begun: () => this.#list(room),
      seated: ({ line }) => {
        if (line !== undefined) this.#store.link(line.dialogid, room.confid);
      },
      left: ({ line }) => {
        if (line !== undefined) this.#store.unlink(line.dialogid);
      },
      ended: () => this.#close(room),
    });
    this.#rooms.set(room.confid, room);
    this.#byNumber.set(numberKey(domain, number), room);
    return room;
  }

  /** Others find the room from now on. */
  #list(room: Room): void {
    const { domain, confroomnum, number, uri } = room.address;
    this.#store.add({
      confid: room.confid,
      confroomnum,
      confnumber: room.confnumber,
      number,
      uri,
      domain,
      freePlaces: () => room.free,
      view: () => room.view(),
    });
  }

  #close(room: Room): void {
    this.#rooms.delete(room.confid);
    this.#byNumber.delete(numberKey(room.address.domain, room.address.number));
    this.#store.remove(room.confid);
  }
}

function numberKey(domain: string, number: string): string {
  return `${domain.toLowerCase()} ${number}`;
}
