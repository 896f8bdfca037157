/** The SIP profile: takes calls, and requests within them. */
import {
  formatHostPort,
  OwnAddresses,
  parseNameAddr,
  parseUri,
  type ServerTransaction,
  SipEndpoint,
  SipParseError,
  type SipRequest,
} from '../../stack/index.ts';
import { reportFault } from '../core/fault.ts';
import { reasonHeader } from '../core/hangup-cause.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { Call } from './call.ts';
import { answeredVariables, callVariables, partiesOf } from './call-variables.ts';
import type { Callers } from './callers.ts';
import { ALLOW, Dialog, SUPPORTED, USER_AGENT } from './dialog.ts';
import { answerHeaders, refusalHeaders } from './headers.ts';
import { readInfoDigit } from './info-digit.ts';
import type { Arrival, Caller, Reception } from './reception.ts';

/** A call and its dialog. */
interface Entry {
  readonly call: Call;
  readonly dialog: Dialog;
}

/** The SIP side of the server: one profile, whose INVITEs become channels. */
export class SipProfile {
  readonly endpoint: SipEndpoint;
  readonly #core: MediaCore;
  readonly #callers: Callers;
  readonly #reception: Reception;
  readonly #calls = new Map<string, Entry>();
  #port = 0;

  constructor(core: MediaCore, callers: Callers, reception: Reception) {
    this.#core = core;
    this.#callers = callers;
    this.#reception = reception;
    this.endpoint = new SipEndpoint({
      handler: {
        request: (transaction) => {
          try {
            this.#request(transaction);
          } catch (error) {
            this.#refuse(transaction, error);
          }
        },
        ackMissing: (invite) => this.#callOf(invite)?.acknowledgementMissing(),
      },
      // An INVITE is answered as soon as its ports are open.
      tryingDelay: 200,
    });
  }

  /** Opens the profile on UDP and TCP. Rejects with ListenError. */
  async listen(address: { readonly host: string; readonly port: number }): Promise<string> {
    const point = await this.endpoint.listen(address);
    this.#port = point.port;
    this.#core.profileAddress = formatHostPort(new OwnAddresses().towards(point.host, ''), point.port);
    return this.#core.profileAddress;
  }

  /** Ends every call without BYE, and closes the sockets. */
  async close(): Promise<void> {
    await this.endpoint.close();
  }

  #callOf(invite: ServerTransaction): Call | undefined {
    const { request, localTag } = invite;
    return this.#calls.get(`${request.callId}|${localTag}|${request.fromTag ?? ''}`)?.call;
  }

  #request(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (!transaction.inDialog) {
      if (request.method === 'INVITE')
        this.#invite(transaction).catch((error: unknown) => this.#refuse(transaction, error));
      else if (request.method === 'OPTIONS') this.#replyOptions(transaction);
      else if (request.method === 'BYE' || request.method === 'INFO' || request.method === 'UPDATE')
        transaction.reply(481);
      else transaction.reply(405, { headers: { 'User-Agent': USER_AGENT, Allow: ALLOW } });
      return;
    }
    const entry = this.#calls.get(Dialog.keyOf(request));
    if (entry === undefined) transaction.reply(481, { headers: { 'User-Agent': USER_AGENT } });
    else if (!entry.dialog.accept(request))
      transaction.reply(500, { headers: { 'User-Agent': USER_AGENT, 'Retry-After': '0' } });
    else this.#requestInDialog(entry.call, transaction);
  }

  #requestInDialog(call: Call, transaction: ServerTransaction): void {
    const { request } = transaction;
    switch (request.method) {
      case 'INVITE':
      case 'UPDATE':
        call.modify(transaction);
        break;
      case 'BYE':
        transaction.reply(200, { headers: { 'User-Agent': USER_AGENT, Allow: ALLOW, Supported: SUPPORTED } });
        call.receivedBye();
        break;
      case 'INFO':
        this.#info(call, transaction);
        break;
      case 'OPTIONS':
        this.#replyOptions(transaction);
        break;
      default:
        transaction.reply(405, { headers: { 'User-Agent': USER_AGENT, Allow: ALLOW } });
    }
  }

  #info(call: Call, transaction: ServerTransaction): void {
    const digit = readInfoDigit(transaction.request);
    transaction.reply(200, { headers: { 'User-Agent': USER_AGENT } });
    if (digit !== undefined) call.channel?.receiveDigit(digit.digit, digit.milliseconds * 8, 'ENDPOINT');
  }

  #replyOptions(transaction: ServerTransaction): void {
    transaction.reply(200, {
      headers: answerHeaders(`<sip:${formatHostPort(this.#ownHost(transaction), this.#port)}>`),
    });
  }

  /** Refuses an unreadable request. A defect fails only its request, not the thread. */
  #refuse(transaction: ServerTransaction, error: unknown): void {
    if (error instanceof SipParseError) {
      transaction.reply(400, { reason: `Bad ${error.field}`, headers: refusalHeaders() });
      return;
    }
    reportFault(transaction.request.method, error);
    transaction.reply(500, { headers: refusalHeaders() });
  }

  async #invite(transaction: ServerTransaction): Promise<void> {
    const { request } = transaction;
    if (!this.#callers.admits(transaction.source.address)) {
      transaction.reply(403, { headers: refusalHeaders(reasonHeader('CALL_REJECTED')) });
      return;
    }
    const caller = callerOf(request);
    if (request.body.length > 0 && !describesSession(request)) {
      transaction.reply(415, { headers: refusalHeaders() });
      return;
    }
    await this.#reception.receive(this.#arrival(transaction, caller));
  }

  /** @throws SipParseError when an address cannot be read */
  #arrival(invite: ServerTransaction, caller: Caller): Arrival {
    const host = this.#ownHost(invite);
    const user = userOf(invite.request.uri) ?? 'drachtio';
    const parties = partiesOf(invite.request);
    const dialog = new Dialog(this.endpoint, invite);
    return {
      invite,
      caller,
      user,
      from: invite.source.address,
      host,
      contact: `<sip:${user}@${formatHostPort(host, this.#port)};transport=${invite.source.transport}>`,
      dialog,
      variables: (channel) => callVariables(this.#core, channel, invite, parties),
      answeredVariables: () => answeredVariables(dialog),
      began: (call) => this.#calls.set(dialog.key, { call, dialog }),
      ended: () => this.#calls.delete(dialog.key),
    };
  }

  /** The address of the profile that the peer of a request reaches. */
  #ownHost({ source: { transport, address: host, port } }: ServerTransaction): string {
    return this.endpoint.addressFor({ transport, host, port }).host;
  }
}

/** Whether the body counts as a session description. */
function describesSession(request: SipRequest): boolean {
  const type = request.header('content-type') ?? 'application/sdp';
  return type.split(';')[0]?.trim().toLowerCase() === 'application/sdp';
}

function userOf(uri: string): string | undefined {
  try {
    return parseUri(uri).user;
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

/** @throws SipParseError when From cannot be read */
function callerOf(request: SipRequest): Caller {
  const { display, uri } = parseNameAddr(request.header('from') ?? '', 'From');
  const parsed = parseUri(uri);
  const number = parsed.user;
  return {
    name: display.replace(/^"|"$/g, '') || number || 'unknown',
    number,
    uri: `${number ?? 'nobody'}@${formatHostPort(parsed.host, parsed.port ?? 5060)}`,
  };
}
