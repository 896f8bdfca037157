/**
 * The door of the embedded servers, each in a worker thread: a SIP server that speaks to drachtio-srf like a
 * drachtio-server, and a media server that speaks to drachtio-fsmrf like a FreeSWITCH.
 */
export { ListenError } from './listen-error.ts';
export { MediaAgent } from './media/direct/agent.ts';
export { holdMusicFile } from './media/audio/hold-music.ts';
export type { MediaServerOptions, MediaServerStats } from './media/options.ts';
export { startMediaServer } from './media/start.ts';
export type { LostConnection, SipServerChange, SipServerOptions, SipServerStats } from './sip/options.ts';
export type { Certificate, Trust } from './stack/index.ts';
export { FORWARDED_HEADER } from './stack/websocket-rules.ts';
export { CallGate } from './sip/call-gate.ts';
export { startSipServer } from './sip/start.ts';
export type { ProgramInput, RunProgram } from './thread/run-program.ts';
export type { EmbeddedServer, ServerHost } from './thread/server-thread.ts';
