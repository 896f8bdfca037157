/** The door of the composition root. */
export { type Node, startNode } from './node.ts';
