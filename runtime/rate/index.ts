/** The door of this room: what other rooms use of it. */
export { TokenBucket } from './token-bucket.ts';
