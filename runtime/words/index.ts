/** The door of this room: what other rooms use of it. */
export { misspelt, nearest, notKnown } from './nearest.ts';
