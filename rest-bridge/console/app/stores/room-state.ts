/** A conference room as REST answers it, and as its events change it. */
import { party } from '../lib/uri.ts';

/** An item of `GET /uc/conferences`. */
export interface Conference {
  readonly confid: string;
  readonly confroomnum: string;
  readonly uri: string;
  readonly site: string;
  readonly startts: number;
  readonly uris: readonly string[];
}

/** An item of its `participants`. */
export interface Participant {
  readonly participantid: string;
  readonly state: string;
  readonly callid: string;
  readonly ruri: string;
  readonly moderator: boolean;
  readonly talking: boolean;
}

/** An item of its `topology`: `to` hears `from`, or does not. `*` is everybody in a command. */
export interface Hearing {
  readonly from: string;
  readonly to: string;
  readonly enabled: boolean;
}

/** An event of class `confevents`. */
export interface RoomEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface RoomState {
  readonly conference: Conference;
  /** Those in the room, and those who are being called. */
  readonly participants: readonly Participant[];
  /** Pairs of which one does not hear the other, see {@link pairOf}. */
  readonly parted: ReadonlySet<string>;
}

export function roomState(
  conference: Conference,
  participants: readonly Participant[],
  topology: readonly Hearing[],
): RoomState {
  return {
    conference,
    participants: participants.filter(({ state }) => state !== 'disconnected'),
    parted: new Set(topology.filter(({ enabled }) => !enabled).map(pairOf)),
  };
}

export function pairOf({ from, to }: Pick<Hearing, 'from' | 'to'>): string {
  return `${from} ${to}`;
}

/** True when `listener` hears `speaker`. */
export function hears({ parted }: RoomState, listener: string, speaker: string): boolean {
  return !parted.has(pairOf({ from: speaker, to: listener }));
}

/**
 * The room after an event. Events say how something is now, so those that an answer of REST already has change nothing
 * when they are applied to it once more, in their order.
 */
export function after(room: RoomState, { type, data }: RoomEvent): RoomState {
  const id = data['participantid'];
  const changed = (change: Partial<Participant>): RoomState => ({
    ...room,
    participants: room.participants.map((each) => (each.participantid === id ? { ...each, ...change } : each)),
  });
  switch (type) {
    case 'conf_state': {
      const { state, callid, ruri } = data as unknown as Participant;
      if (room.participants.some(({ participantid }) => participantid === id)) return changed({ state, callid, ruri });
      const entered = { participantid: String(id), state, callid, ruri, moderator: false, talking: false };
      return { ...room, participants: [...room.participants, entered] };
    }
    case 'conf_join':
      return changed({ moderator: data['moderator'] === true });
    case 'conf_talking':
      return changed({ talking: data['talking'] === true });
    case 'conf_leave':
      return {
        ...room,
        participants: room.participants.filter(({ participantid }) => participantid !== id),
        parted: new Set([...room.parted].filter((pair) => !pair.split(' ').includes(String(id)))),
      };
    case 'conf_topology': {
      const parted = new Set(room.parted);
      for (const change of data['changes'] as readonly Hearing[]) {
        if (change.enabled) parted.delete(pairOf(change));
        else parted.add(pairOf(change));
      }
      return { ...room, parted };
    }
    default:
      return room;
  }
}

/** A participant under the name that the page gives them. */
export interface Person extends Participant {
  readonly label: string;
}

/** Names are repeated in many cells. The whole address is in the participant's dialog. */
const LABEL_LENGTH = 40;

/** The participants, each with a name of its own: number or login, numbered where several have the same one. */
export function peopleOf({ participants }: RoomState): Person[] {
  const seen = new Map<string, number>();
  return participants.map((participant) => {
    const name = nameOf(participant.ruri);
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { ...participant, label: times === 1 ? name : `${name} (${times})` };
  });
}

/** Number or login of an address, as far as there is room for it. */
export function nameOf(ruri: string): string {
  const whole = party(ruri);
  return whole.length > LABEL_LENGTH ? `${whole.slice(0, LABEL_LENGTH - 1)}…` : whole;
}
