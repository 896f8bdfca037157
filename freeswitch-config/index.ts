/** The door of this room: what other rooms use of it. */
export { Owner } from './owner.ts';
export { pairFrom, render } from './render.ts';
export { readSizing } from './sizing.ts';
