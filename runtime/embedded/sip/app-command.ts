/** Commands of applications (drachtio-server's app protocol). */
import { findHeadEnd, parseHead, SipParseError, type SipRequest, type SipResponse } from '../stack/index.ts';

/** A command of an application. */
export type AppCommand =
  | { readonly type: 'authenticate'; readonly id: string; readonly secret: string; readonly tags: readonly string[] }
  | { readonly type: 'route' | 'remove_route'; readonly id: string; readonly verb: string }
  | { readonly type: 'ping'; readonly id: string }
  | SipCommand
  | ProxyCommand
  | { readonly type: 'unknown'; readonly id: string };

/** Sends a request or a response. */
export interface SipCommand {
  readonly type: 'sip';
  readonly id: string;
  /** Id of the transaction to answer or cancel; empty for a new request. */
  readonly transactionId: string;
  /** Id of the dialog to send in; empty outside of dialogs. */
  readonly dialogId: string;
  /** Next hop in place of the request-URI, or empty. */
  readonly routeUrl: string;
  /** The SIP message's bytes. */
  readonly text: Buffer;
}

/** Forwards a request to one or more destinations. */
export interface ProxyCommand {
  readonly type: 'proxy';
  readonly id: string;
  readonly transactionId: string;
  readonly recordRoute: boolean;
  readonly fullResponse: boolean;
  readonly followRedirects: boolean;
  readonly simultaneous: boolean;
  /** Limits for the provisional and for the final response, ms; undefined for no limit. */
  readonly provisionalTimeout: number | undefined;
  readonly finalTimeout: number | undefined;
  readonly destinations: readonly string[];
  readonly text: Buffer;
}

const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

/** Reads one frame's payload: `id|type|...`, fields separated by `|`, SIP after the first CRLF. */
export function parseCommand(payload: Buffer): AppCommand {
  const at = payload.indexOf(CRLF);
  const fields = payload.toString('latin1', 0, at < 0 ? payload.length : at).split('|');
  const text = at < 0 ? NOTHING : payload.subarray(at + 2);
  const id = fields[0] ?? '';
  const field = (index: number): string => fields[index] ?? '';
  const type = field(1);
  switch (type) {
    case 'authenticate':
      return {
        type: 'authenticate',
        id,
        secret: field(2),
        tags: field(3)
          .split(',')
          .filter((tag) => tag !== ''),
      };
    case 'route':
    case 'remove_route':
      return { type, id, verb: field(2).toLowerCase() };
    case 'ping':
      return { type: 'ping', id };
    case 'sip':
      return { type: 'sip', id, transactionId: field(2), dialogId: field(3), routeUrl: field(4), text };
    case 'proxy':
      return {
        type: 'proxy',
        id,
        transactionId: field(2),
        recordRoute: field(3) === 'remainInDialog',
        fullResponse: field(4) === 'fullResponse',
        followRedirects: field(5) === 'followRedirects',
        simultaneous: field(6) === 'simultaneous',
        provisionalTimeout: milliseconds(field(7)),
        finalTimeout: milliseconds(field(8)),
        destinations: fields.slice(9).filter((destination) => destination !== ''),
        text,
      };
    default:
      return { type: 'unknown', id };
  }
}

/** Reads `5000`, `5000ms` or `5s`; any other text means no limit. */
function milliseconds(text: string): number | undefined {
  const match = /^(\d+)\s*(ms|s)?$/.exec(text);
  if (match === null) return undefined;
  const value = Number(match[1]) * (match[2] === 's' ? 1000 : 1);
  return value > 0 ? value : undefined;
}

const LIMITS = { maxHeadBytes: 999_999, maxMessageBytes: 999_999, maxHeaders: 1024 };

/**
 * Reads the SIP text of a command. The server fills in missing headers. Content-Length is not needed, because the frame
 * ends with the body.
 * @throws SipParseError when the start line or a header is malformed.
 */
export function parseAppMessage(text: Buffer): SipRequest | SipResponse {
  const line = text.indexOf(10);
  if (line > 0 && text[line - 1] !== 13) throw new SipParseError('start-line', text.toString('latin1', 0, 80), 'CRLF');
  const end = findHeadEnd(text, 0);
  const message = parseHead(text, 0, end?.head ?? text.length, LIMITS);
  if (end !== undefined) message.body = text.subarray(end.body);
  return message;
}
