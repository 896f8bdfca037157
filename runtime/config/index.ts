/** The door of this room: what other rooms use of it. */
export { type Config, isLoopback, readConfig, type ServerAddress } from './config.ts';
