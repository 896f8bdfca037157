/** The door of this room: what other rooms use of it. */
export { type Config, isLoopback, readConfig, type ServerAddress, type TlsConfig } from './config.ts';
export { ConfigError } from './errors.ts';
