/** The door of this room: what other rooms use of it. */
export { counted } from './counted.ts';
export { misspelt, nearest, notKnown } from './nearest.ts';
