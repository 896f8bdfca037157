/** Types of the used part of drachtio-srf: the library's own declarations omit callback arguments. */
import type { EventEmitter } from 'node:events';

export interface SrfMessage {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  readonly source_address: string;
  readonly source_port: number;
  readonly protocol: string;
  get(name: string): string | undefined;
  has(name: string): boolean;
}

export interface SrfRequest extends SrfMessage, EventEmitter {
  /** `ip:port` of the SIP server's listener, for a request outside of dialogs. */
  readonly receivedOn?: string;
  /** Of the SIP server. */
  readonly stackTxnId: string;
  /** When it received the request: `hh:mm:ss.uuuuuu`. */
  readonly stackTime?: string;
  cancel(options?: { readonly headers: Readonly<Record<string, string>> }): void;
}

export interface SrfIncomingResponse extends SrfMessage {
  /** The SIP server's name of the dialog, if the response is part of one. */
  readonly stackDialogId?: string;
  readonly status: number;
  readonly reason: string;
}

export interface SrfReply {
  headers?: Record<string, string>;
  body?: string;
}

/** An answer as the SIP server sent it. */
export interface SrfSentResponse {
  readonly stackDialogId?: string;
  get(name: string): string | undefined;
}

export interface SrfResponse {
  /** The SIP server's name of the dialog, after the answer was sent. */
  readonly stackDialogId?: string;
  readonly finalResponseSent: boolean;
  /** After the final answer was sent. */
  once(event: 'end', listener: () => void): void;
  send(status: number, reply?: SrfReply, callback?: (err: unknown, sent?: SrfSentResponse) => void): void;
  send(status: number, reason: string, reply?: SrfReply, callback?: (err: unknown) => void): void;
}

export interface SrfDialog extends EventEmitter {
  /** The SIP server's name for it. */
  readonly id: string;
  readonly srf: Srf;
  /** A tag is missing when the far end sent none (RFC 2543). */
  readonly sip: { callId: string; localTag?: string; remoteTag?: string };
  readonly local: { sdp: string; contact?: string };
  readonly remote: { sdp: string; uri: string };
  readonly connected: boolean;
  /** True when it began with an INVITE of this node. */
  readonly type: 'uac' | 'uas';
  /** The answer that created the dialog, if the phone was called. */
  readonly res?: SrfIncomingResponse;
  destroy(options?: { headers?: Record<string, string> }): Promise<unknown>;
  modify(sdp: string): Promise<string>;
  request(options: { method: string; headers?: Record<string, string>; body?: string }): Promise<SrfIncomingResponse>;
}

export interface SrfUacOptions {
  headers: Record<string, string>;
  localSdp: string;
  proxy?: string;
  auth?: SrfAuth;
}

/** Credentials for a challenge. */
export interface SrfAuth {
  username: string;
  password: string;
}

export interface SrfRequestOptions {
  method: string;
  headers: Record<string, string>;
  body?: string;
  auth?: SrfAuth;
  /** Next hop, if not the URI's. */
  proxy?: string;
  /** The transaction to cancel. */
  stackTxnId?: string;
  /** The dialog of an in-dialog request. */
  stackDialogId?: string;
}

export interface SrfInDialogOptions {
  method: string;
  stackDialogId: string;
  headers: Record<string, string>;
  body: string;
}

export interface SrfUacCallbacks {
  cbRequest(err: unknown, req: SrfRequest): void;
  cbProvisional(res: SrfIncomingResponse): void;
}

export interface Srf extends EventEmitter {
  connect(config: {
    host: string;
    port: number;
    secret: string;
    /** Longest pause between reconnection attempts, ms. */
    reconnect?: { retryMaxDelay: number };
  }): void;
  disconnect(): void;
  use(method: string, handler: (req: SrfRequest, res: SrfResponse, next: () => void) => void): void;
  createUAS(
    req: SrfRequest,
    res: SrfResponse,
    options: { localSdp: string; headers?: Record<string, string> },
    callback: SrfDialogCallback,
  ): void;
  /** Outside a dialog; the request given to the callback emits `response`. */
  request(uri: string, options: SrfRequestOptions, callback: (err: unknown, req?: SrfRequest) => void): void;
  /** Inside a dialog; the URI is the dialog's. */
  request(uri: string, options: SrfInDialogOptions, callback: (err: unknown, req?: SrfRequest) => void): void;
  createUAC(uri: string, options: SrfUacOptions, progress: SrfUacCallbacks, callback: SrfDialogCallback): void;
}

export type SrfDialogCallback = (err: unknown, dialog?: SrfDialog) => void;
