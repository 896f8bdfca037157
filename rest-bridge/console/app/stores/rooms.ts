/** The rooms of the domain, or of the person, over REST. */
import { ApiError, call, read, send } from '../lib/api.ts';
import { feed } from '../lib/feed.ts';
import { userOf } from '../lib/uri.ts';
import { type Conference, type Hearing, type Participant, type RoomState, roomState } from './room-state.ts';
import type { RoomListener, RoomSource } from './room.ts';

/** Whose rooms a page shows: those of the domain, or those in which the person takes part. */
export interface RoomScope {
  readonly path: '/uc/conferences' | '/uc/conferences_by_participation';
  /** The page of the list. */
  readonly page: 'conferences' | 'my-rooms';
}

export const DOMAIN_ROOMS: RoomScope = { path: '/uc/conferences', page: 'conferences' };
export const OWN_ROOMS: RoomScope = { path: '/uc/conferences_by_participation', page: 'my-rooms' };

/** What the featurecode of a room says of its rooms, as far as people are told. */
export interface RoomPins {
  readonly pin?: string;
  readonly moderator_pin?: string;
}

/** The PINs of a room; none for a person who may not read them. @throws ApiError */
export async function pinsOf({ uri, confroomnum }: Conference): Promise<RoomPins> {
  const prefix = userOf(uri).slice(0, -confroomnum.length);
  try {
    const [found] = await read<{ readonly opts: RoomPins }[]>('/domain/featurecodes', { filter: { prefix } });
    return found?.opts ?? {};
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return {};
    throw error;
  }
}

/** What the person may do in a room. */
export interface RoomRights {
  readonly change: boolean;
  readonly add: boolean;
  readonly remove: boolean;
  readonly end: boolean;
}

/** Asks by requests about a room that no node has: they are 404 where the roles allow them. */
export async function rightsIn({ path }: RoomScope): Promise<RoomRights> {
  const none = `${path}/none`;
  const [change, add, remove, end] = await Promise.all([
    isAllowed('POST', `${none}/topology`, []),
    isAllowed('POST', `${none}/participants`, { to: '0' }),
    isAllowed('DELETE', `${none}/participants/none`),
    isAllowed('DELETE', none),
  ]);
  return { change, add, remove, end };
}

/** Any answer but 403 means yes: the action itself shows other errors. */
async function isAllowed(method: string, path: string, body?: unknown): Promise<boolean> {
  try {
    await send(method, path, body, { dry_run: true });
    return true;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 403);
  }
}

/** Some fields are answered only where they are named. */
const PARTICIPANT = 'participantid,state,callid,ruri,moderator,talking';

/** One room. Methods throw {@link ApiError}. */
export class RoomService implements RoomSource {
  readonly #id: string;
  readonly #path: string;

  constructor({ path }: RoomScope, id: string) {
    this.#id = id;
    this.#path = `${path}/${encodeURIComponent(id)}`;
  }

  async read(): Promise<RoomState> {
    const [conference, participants, topology] = await Promise.all([
      read<Conference>(this.#path),
      read<Participant[]>(`${this.#path}/participants`, { mask: PARTICIPANT }),
      read<Hearing[]>(`${this.#path}/topology`),
    ]);
    return roomState(conference, participants, topology);
  }

  follow(listener: RoomListener): () => void {
    return feed.follow({ events: ['confevents'], filter: { confid: this.#id }, ...listener });
  }

  /** Changes who hears whom: all commands or none. */
  async change(commands: readonly Hearing[]): Promise<void> {
    await send('POST', `${this.#path}/topology`, commands);
  }

  /** Calls a number from the room. @param key the same one for a repeat, which then calls nobody again */
  async add(to: string, key: string): Promise<void> {
    await call('POST', `${this.#path}/participants`, { body: { to }, headers: { 'idempotency-key': key } });
  }

  /** Ends the call of a participant. */
  async remove(participantid: string): Promise<void> {
    await send('DELETE', `${this.#path}/participants/${encodeURIComponent(participantid)}`);
  }

  /** Ends the room. */
  async end(): Promise<void> {
    await send('DELETE', this.#path);
  }
}
