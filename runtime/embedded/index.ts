/**
 * Embedded servers, each in a worker thread: a SIP server that drachtio-srf takes for a drachtio-server, and a media
 * server that drachtio-fsmrf takes for a FreeSWITCH. This is all that other rooms may import of them.
 */
export { ListenError } from './listen-error.ts';
export { holdMusicFile } from './media/audio/hold-music.ts';
export type { MediaServerOptions, MediaServerStats } from './media/options.ts';
export { startMediaServer } from './media/start.ts';
export type { SipServerOptions, SipServerStats } from './sip/options.ts';
export { startSipServer } from './sip/start.ts';
export type { ProgramInput, RunProgram } from './thread/run-program.ts';
export type { EmbeddedServer, ServerHost } from './thread/server-thread.ts';
