/** Shows every SIP message of a connection to a SIP server, received and sent. */
import type { EventEmitter } from 'node:events';
import type { Srf } from './srf-types.ts';

/**
 * Receives the frames of a connection; `readWireFrame` reads those with a SIP message. It must not throw, and must be
 * quick: it is called within the call.
 * @param hostports listening addresses of the SIP server
 */
export type MessageTap = (frame: string, hostports: string) => void;

/** The private part of drachtio-srf that receives frames; it lives as long as the application object. */
interface Client {
  readonly wp: EventEmitter;
}

/**
 * Passes on the frames of a connection, after their own handling. The SIP server reports sent messages as it put them
 * on the wire, so nothing has to be taken from what is sent to it.
 */
export function tapMessages(srf: Srf, tap: MessageTap, hostports: () => string): void {
  // oxlint-disable-next-line no-underscore-dangle -- drachtio-srf shows no raw messages
  const { client } = (srf as unknown as { readonly _app: { readonly client?: Client } })._app;
  client?.wp.on('msg', (_socket: unknown, frame: string) => tap(frame, hostports()));
}
