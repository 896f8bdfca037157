import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import MrfClass from 'drachtio-fsmrf';
import type { ServerAddress } from '../../../runtime/config/config.ts';
import type { Dialog, Request, Response, Srf } from './srf.ts';

/** drachtio-fsmrf's actual interface; the library has no types. */
export interface FsEvent {
  getHeader(name: string): string | undefined;
  getBody(): string;
}

export interface PlayResult {
  readonly playbackSeconds: string;
  readonly playbackMilliseconds: string;
  readonly playbackLastOffsetPos: string;
}

export interface Collected {
  readonly digits: string | null;
  readonly invalidDigits: string | null;
  readonly terminatorUsed: string | null;
}

export interface Recorded {
  readonly terminatorUsed: string | null;
  readonly recordSeconds: string;
  readonly recordMilliseconds: string;
  readonly recordSamples: string;
}

interface EslConnection extends EventEmitter {
  readonly socket: Socket;
}

export interface Endpoint extends EventEmitter {
  readonly uuid: string;
  readonly connected: boolean;
  readonly local: { readonly sdp: string; readonly mediaIp: string; readonly mediaPort: string };
  readonly remote: { readonly sdp: string; readonly mediaPort: string };
  readonly dtmfType: string;
  readonly conn: EslConnection;
  readonly dialog: Dialog;
  readonly conf: { readonly memberId: number; readonly uuid: string };
  play(
    file: string | readonly string[] | { file: string; seekOffset?: number; timeoutSecs?: number },
  ): Promise<PlayResult>;
  playCollect(options: {
    file: string;
    min?: number;
    max?: number;
    tries?: number;
    timeout?: number;
    terminators?: string;
    invalidFile?: string;
    regexp?: string;
    digitTimeout?: number;
  }): Promise<Collected>;
  record(file: string, options?: { timeLimitSecs?: number }): Promise<Recorded>;
  recordSession(file: string): Promise<FsEvent>;
  api(command: string, args?: string | readonly string[]): Promise<FsEvent>;
  execute(app: string, arg?: string): Promise<FsEvent>;
  set(name: string, value: string): Promise<void>;
  getChannelVariables(includeMedia: boolean): Promise<Record<string, string>>;
  modify(sdp: string): Promise<string>;
  bridge(other: Endpoint | string): Promise<void>;
  unbridge(): Promise<void>;
  mute(): Promise<FsEvent>;
  unmute(): Promise<FsEvent>;
  destroy(): Promise<void>;
  join(
    conference: string,
    options?: { pin?: string; flags?: Record<string, boolean>; profile?: string },
  ): Promise<{ memberId: number; confUuid: string }>;
  confMute(): Promise<string>;
  confUnmute(): Promise<string>;
  confDeaf(): Promise<string>;
  confUndeaf(): Promise<string>;
  confKick(): Promise<string>;
}

export interface MediaServer extends EventEmitter {
  readonly conn: EslConnection;
  readonly sip: { readonly ipv4: { readonly udp: { readonly address: string } } };
  api(command: string): Promise<string>;
  createEndpoint(options?: {
    remoteSdp?: string;
    codecs?: string | readonly string[];
    headers?: Record<string, string>;
  }): Promise<Endpoint>;
  connectCaller(
    request: Request,
    response: Response,
    options?: object,
  ): Promise<{ endpoint: Endpoint; dialog: Dialog }>;
  connected(): boolean;
  disconnect(): void;
}

interface Mrf {
  connect(options: object): Promise<MediaServer>;
}

const Constructor = MrfClass as unknown as new (srf: Srf) => Mrf;

/** Connects drachtio-fsmrf to a media server. */
export async function connectMedia(srf: Srf, address: ServerAddress, options: object = {}): Promise<MediaServer> {
  const server = await new Constructor(srf).connect({
    address: address.host,
    port: address.port,
    secret: address.secret,
    listenAddress: '127.0.0.1',
    listenPort: 0,
    ...options,
  });
  // drachtio-modesl writes in pieces, each of which would wait some 40 ms for a delayed ACK.
  server.conn.socket.setNoDelay(true);
  return server;
}

/** The body of an API answer without its line end. */
export function text(event: FsEvent): string {
  return event.getBody().trim();
}
