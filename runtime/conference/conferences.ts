/** The conference role of a node. */
import { randomInt } from 'node:crypto';
import type { DomainName } from '../domain-name/index.ts';
import type { MemoryConferenceStore } from '../callstore/index.ts';
import type { FeatureCode } from '../domain/index.ts';
import type { EndpointServer } from '../media/index.ts';
import { bracketUri } from '../signalling/index.ts';
import type { Admission, Guest, Line, Participant } from './participant.ts';
import { LostRooms } from './lost-rooms.ts';
import { asksForPin } from './pin.ts';
import type { ConferenceServices } from './ports.ts';
import { Room } from './room.ts';
import type { RoomAddress } from './room-address.ts';
import { roomSettings } from './settings.ts';

/** A caller who asks to enter a room. */
export interface Entrance {
  /** The featurecode of the room; its domain is the conference's. */
  readonly featureCode: FeatureCode;
  /** Digits after the featurecode; empty: a new room. */
  readonly room: string;
  /** The caller's number. */
  readonly number: string;
  readonly guest: Guest;
  /** True: entered by the platform for an authorised user, without PIN. */
  readonly brought: boolean;
  readonly moderator?: boolean;
  readonly muted?: boolean;
  /** A participant to replace: leaves after this one has entered. */
  readonly instead?: Participant;
  /** Media server of an existing endpoint. */
  readonly mediaServer?: EndpointServer | undefined;
}

export interface Entered {
  readonly room: Room;
  readonly participant: Participant;
}

/** Digits of a new room's number. */
const FRESH_DIGITS = 6;

/** The conf role of a node: its live rooms. */
export class Conferences {
  readonly lost: LostRooms;
  readonly #services: ConferenceServices;
  readonly #store: MemoryConferenceStore;
  readonly #rooms = new Map<string, Room>();
  readonly #byNumber = new Map<string, Room>();

  constructor(services: ConferenceServices, store: MemoryConferenceStore) {
    this.#services = services;
    this.#store = store;
    this.lost = new LostRooms(services.events);
  }

  /** Number of live rooms. */
  get count(): number {
    return this.#rooms.size;
  }

  /** Number of participants in a room's mix. Takes time by their number. */
  get members(): number {
    let members = 0;
    for (const room of this.#rooms.values()) members += room.members;
    return members;
  }

  room(confid: string): Room | undefined {
    return this.#rooms.get(confid);
  }

  /** The live room behind a number. */
  roomAt(domain: DomainName, number: string): Room | undefined {
    return this.#byNumber.get(numberKey(domain, number));
  }

  /** A number that no live room has. */
  freshRoom({ domain, prefix }: FeatureCode): string {
    for (;;) {
      const digits = String(randomInt(10 ** (FRESH_DIGITS - 1), 10 ** FRESH_DIGITS));
      if (this.roomAt(domain, prefix + digits) === undefined) return digits;
    }
  }

  /**
   * Admits a caller; the first one creates the room.
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
   * Reserves a place for a party to be called from the room; it becomes a participant when its call exists.
   * @param number the called number
   * @param scenario true when the number belongs to a scenario
   * @returns undefined when the room is full or has ended
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
        for (const dialogid of dialogsOf(line)) this.#store.link(dialogid, room.confid);
      },
      left: ({ line }) => {
        for (const dialogid of dialogsOf(line)) this.#store.unlink(dialogid);
      },
      ended: () => this.#close(room),
    });
    this.#rooms.set(room.confid, room);
    this.#byNumber.set(numberKey(domain, number), room);
    return room;
  }

  /** Makes the room visible to others. */
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
    this.#services.over?.(room.address.domain, room.address.number);
  }
}

function dialogsOf({ dialogid, through }: Partial<Line> = {}): readonly string[] {
  return [dialogid, through].filter((id) => id !== undefined);
}

function numberKey(domain: DomainName, number: string): string {
  return `${domain} ${number}`;
}
