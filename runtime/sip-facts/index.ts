/** The door of this room: what other rooms use of it. */
export {
  type CryptoLine,
  readCryptoLine,
  SRTP_KEY_OCTETS,
  type SrtpSuiteName,
  writeCryptoLine,
} from './crypto-line.ts';
export { isInNetworks, networkList, placeOf, plainAddress, PRIVATE, scopeOf, sourceOfLimits } from './ip-scope.ts';
export { knownStatus, reasonPhrase } from './reason-phrase.ts';
export { receivingOnly, sdpDirection } from './sdp-direction.ts';
export { isWildcard, numericLookup, sourceTowards } from './source-towards.ts';
