/** Types of the used part of drachtio-fsmrf 5, which ships none. */
declare module 'drachtio-fsmrf' {
  import type { EventEmitter } from 'node:events';
  import type { Server, Socket } from 'node:net';

  export interface FsEvent {
    getHeader(name: string): string | undefined;
    getBody(): string;
  }

  export interface FsConnection {
    readonly socket: Socket;
    /** The channel's state at the begin of the connection. */
    getInfo(): FsEvent;
    /** Longest pause between reconnection attempts, ms; by default it doubles without limit. */
    readonly reconnectOpts: { retryMaxDelay?: number };
    /** Events are named `esl::event::NAME::channel-uuid`. */
    on(event: string, listener: (event: FsEvent) => void): unknown;
    /** Adds events to the subscription; `done` gets the reply. */
    subscribe(events: readonly string[] | string, done?: () => void): void;
    /** Sends a command of the event socket; the reply is not read. */
    sendRecv(command: string): void;
    /** Only events with one of the filtered values come from now on. */
    filter(header: string, value: string): void;
    /** Added to the events of every subscription. */
    reqEvents: readonly string[];
    /** Starts an application on the channel. */
    execute(...application: unknown[]): unknown;
    removeListener(event: string, listener: (event: FsEvent) => void): unknown;
  }

  export interface FsRequest {
    readonly body: string;
    get(header: string): string | undefined;
  }

  export interface FsDialog extends EventEmitter {
    /** The SIP server's name for it; undefined for a call within the process. */
    readonly id?: string;
    /** Undefined for a call within the process. */
    readonly sip?: { readonly callId: string; readonly localTag: string; readonly remoteTag: string };
    readonly local: { sdp: string; contact?: string };
    request(options: {
      method: string;
      headers?: Record<string, string>;
      body?: string;
    }): Promise<{ readonly status: number; readonly body: string }>;
    /** Ends the call. */
    destroy(): Promise<unknown>;
  }

  export interface FsEndpoint extends EventEmitter {
    readonly uuid: string;
    readonly connected: boolean;
    readonly local: { sdp: string };
    readonly conn: FsConnection | null;
    /** The SIP dialog between this node and the media server. */
    readonly dialog: FsDialog | null;
    api(command: string, args?: string | readonly string[]): Promise<FsEvent>;
    execute(app: string, arg?: string): Promise<FsEvent>;
    destroy(): Promise<void>;
  }

  export interface FsListener {
    readonly server?: Server;
    on(event: 'connection::open' | 'connection::close', listener: (connection: FsConnection) => void): unknown;
  }

  export interface FsMediaServer extends EventEmitter {
    readonly conn: FsConnection;
    /** Where the media server connects to for each channel. */
    readonly advertisedAddress: string;
    readonly advertisedPort: number;
    /** The listener for connections from the media server. */
    readonly _server?: FsListener;
    createEndpoint(options?: { remoteSdp?: string; headers?: Record<string, string> }): Promise<FsEndpoint>;
    api(command: string): Promise<string>;
    connected(): boolean;
    disconnect(): void;
  }

  export default class Mrf {
    constructor(srf: object);
    connect(options: {
      address: string;
      port: number;
      secret: string;
      listenAddress: string;
      listenPort: number;
      profile?: string;
    }): Promise<FsMediaServer>;
  }
}
