/** The door of this room: what other rooms use of it. */
export type { SpentElsewhere } from './spent-elsewhere.ts';
export { TokenBucket } from './token-bucket.ts';
