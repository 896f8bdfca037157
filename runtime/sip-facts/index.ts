/** The door of this room: what other rooms use of it. */
export { knownStatus, reasonPhrase } from './reason-phrase.ts';
export { sdpDirection } from './sdp-direction.ts';
