/** The door of this room: what other rooms use of it. */
export { ChannelRecording } from './channel-recording.ts';
export { collectDigits } from './collect.ts';
export type { ConferenceMix, MemberNotice } from './conference-mix.ts';
export type { EndpointServer, MediaEndpoint } from './endpoint.ts';
export { detectMachine } from './machine-detection/detect.ts';
export type { MediaFigures } from './media-figures.ts';
export { MediaError, NoSpeechEngine } from './media-error.ts';
export { playSources, stoppable } from './play.ts';
export { recordInTurn } from './record.ts';
export type { RecordingEnd } from './recording-notices.ts';
export { RecordingFolder } from './recordings.ts';
export { bestCodec, type CodecName, type CodecWish, codecWish } from './codec-order.ts';
export type { SrtpPolicy } from './sdp-streams.ts';
export { MediaServers, type PlacedEndpointWish } from './servers.ts';
export { spokenSource } from './speech-source.ts';
export { type Tap, tapEndpoint } from './tap.ts';
export { aborted, untilAborted } from './until-aborted.ts';
export { readWavShape, repairWav, wavDuration, wavOf, wavSamples } from './wav-file.ts';
