/** Types of the used part of drachtio-modesl 1, the event socket of drachtio-fsmrf, which ships none. */
declare module 'drachtio-modesl' {
  import type { Socket } from 'node:net';
  import type { FsEvent } from 'drachtio-fsmrf';

  export interface EslHeader {
    readonly name: string;
    readonly value: string | number;
  }

  export interface EslEvent extends FsEvent {
    headers: EslHeader[];
    type: string | number | undefined;
    subclass: string | number | undefined;
    body: unknown;
  }

  export type EslHeaders = Record<string, string | number>;

  export interface EslParser {
    buffer: Buffer;
    emit(name: string, ...values: unknown[]): unknown;
    /** @returns index of the empty line after the headers in `buffer`; -1 without one */
    _indexOfHeaderEnd(): number;
    _parseHeaderText(text: string): EslHeaders;
    /** Emits `esl::event` for a message of these headers. */
    _parseEvent: (this: EslParser, headers: EslHeaders, body?: string) => void;
  }

  export interface EslConnection {
    readonly socket: Socket;
    /** The socket is connected: `auth` or `connect` is sent next. */
    _onConnect: (this: EslConnection) => void;
  }

  const esl: {
    readonly Connection: { readonly prototype: EslConnection };
    readonly Event: new () => EslEvent;
    readonly Parser: { readonly prototype: EslParser };
  };
  export default esl;
}
