/** The door of this room: what other rooms use of it. */
export { Metrics } from './metrics.ts';
