/** The door of this room: what other rooms use of it. */
export {
  type CryptoLine,
  readCryptoLine,
  SRTP_KEY_OCTETS,
  type SrtpSuiteName,
  writeCryptoLine,
} from './crypto-line.ts';
export { knownStatus, reasonPhrase } from './reason-phrase.ts';
export { sdpDirection } from './sdp-direction.ts';
