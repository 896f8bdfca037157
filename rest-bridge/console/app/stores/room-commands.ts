/** Commands of the topology for whole rows and columns of the matrix. */
import { type Hearing, hears, type Participant, type RoomState } from './room-state.ts';

/** Everybody in the room at that moment. */
const ALL = '*';

type Seat = Pick<Participant, 'participantid' | 'state'>;

/** Lets everybody hear a participant, or nobody. */
export function speaking(people: readonly Seat[], id: string, enabled: boolean): Hearing[] {
  const called = calledOf(people).filter((each) => each !== id);
  return [ALL, ...called].map((to) => ({ from: id, to, enabled }));
}

/** Lets a participant hear everybody, or nobody. */
export function hearing(people: readonly Seat[], id: string, enabled: boolean): Hearing[] {
  const called = calledOf(people).filter((each) => each !== id);
  return [ALL, ...called].map((from) => ({ from, to: id, enabled }));
}

/** Lets everybody hear everybody. */
export function open(people: readonly Seat[]): Hearing[] {
  const all = { from: ALL, to: ALL, enabled: true };
  return [all, ...calledOf(people).flatMap((id) => [...speaking(people, id, true), ...hearing(people, id, true)])];
}

/** Lets nobody hear anybody but the moderators. */
export function onlyModerators(people: readonly (Seat & Pick<Participant, 'moderator'>)[]): Hearing[] {
  return people
    .filter(({ moderator }) => !moderator)
    .flatMap(({ participantid }) => speaking(people, participantid, false));
}

/** `*` leaves out those who are still being called. */
function calledOf(people: readonly Seat[]): string[] {
  return people
    .filter(({ state }) => state === 'calling' || state === 'ringing')
    .map(({ participantid }) => participantid);
}

/** True for a participant whom none of the others hears. */
export function isMuted(room: RoomState, id: string): boolean {
  return others(room, id).every((other) => !hears(room, other, id)) && room.participants.length > 1;
}

/** True for a participant who hears none of the others. */
export function isDeaf(room: RoomState, id: string): boolean {
  return others(room, id).every((other) => !hears(room, id, other)) && room.participants.length > 1;
}

function others({ participants }: RoomState, id: string): string[] {
  return participants.map(({ participantid }) => participantid).filter((each) => each !== id);
}
