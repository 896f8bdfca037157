/** The door of this room: what other rooms use of it. */
export { isLoopback, listeningHosts, publicAddressesOf } from './addresses.ts';
export {
  type ClusterConfig,
  type Config,
  readConfig,
  type Role,
  ROLES,
  type ServerAddress,
  type TlsConfig,
} from './config.ts';
export { ConfigError } from './errors.ts';
