/** The door of this room: what other rooms use of it. */
export { corkedTurn, Turn } from './turn.ts';
