/** The door of this room: what other rooms use of it. */
export { Conferences, type Entered, type Entrance } from './conferences.ts';
export type { Participant } from './participant.ts';
export { asksForPin } from './pin.ts';
export type { ConferenceObserver } from './ports.ts';
export type { Room } from './room.ts';
export { roomSettings } from './settings.ts';
export { TopologyError } from './topology.ts';
