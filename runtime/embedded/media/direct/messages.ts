/** Messages between a program and a media server in its process: what SIP and the event socket would carry between them. */
import type { SocketMessage } from './socket.ts';

/** Of the connection by which the program controls the channel of a call. */
export interface Control {
  readonly type: 'control';
  readonly call: number;
  readonly sent: SocketMessage;
  /** With the first one, from the server. */
  readonly begins?: true;
}

/** To the server. `call` is the program's number of the call. */
export type ToServer =
  /** Without `sdp` the server makes the offer. */
  | {
      readonly type: 'invite';
      readonly call: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly sdp: string | undefined;
    }
  /** The answer to the server's offer. */
  | { readonly type: 'ack'; readonly call: number; readonly sdp: string }
  /** A new offer within the call; `id` is that of its answer. */
  | { readonly type: 'reinvite'; readonly call: number; readonly id: number; readonly sdp: string }
  | { readonly type: 'bye'; readonly call: number }
  | Control;

/** From the server. */
export type FromServer =
  | {
      readonly type: 'answer';
      readonly call: number;
      readonly status: number;
      readonly reason: string;
      readonly sdp: string;
    }
  | {
      readonly type: 'reanswer';
      readonly call: number;
      readonly id: number;
      readonly status: number;
      readonly sdp: string;
    }
  | { readonly type: 'info'; readonly call: number; readonly contentType: string; readonly body: string }
  | { readonly type: 'bye'; readonly call: number }
  | Control;
