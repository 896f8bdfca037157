/** The SIP profile: turns INVITEs into channels. */
import { isIP } from 'node:net';
import {
  formatHost,
  formatHostPort,
  OwnAddresses,
  parseNameAddr,
  parseUri,
  type ServerTransaction,
  SipEndpoint,
  SipParseError,
  type SipRequest,
} from '../../stack/index.ts';
import { Channel } from '../channel/channel.ts';
import { reportFault } from '../core/fault.ts';
import { reasonHeader } from '../core/hangup-cause.ts';
import { MAX_SESSIONS } from '../core/identity.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { FarEnd, MediaHost, MediaHosts } from '../rtp/media-hosts.ts';
import { NoPortError, type PortPool } from '../rtp/ports.ts';
import { RtpSession } from '../rtp/session.ts';
import { DtlsThread } from '../webrtc/dtls-thread.ts';
import { Call } from './call.ts';
import type { Callers } from './callers.ts';
import {
  answeredVariables,
  callVariables,
  DIALPLAN_VARIABLES,
  FAX_VARIABLE,
  secureVariables,
  timeoutVariables,
} from './call-variables.ts';
import { ALLOW, Dialog, SUPPORTED, USER_AGENT } from './dialog.ts';
import { answerHeaders, refusalHeaders } from './headers.ts';
import { readInfoDigit } from './info-digit.ts';
import { BAD_DESCRIPTION, readDescription, type RemoteDescription } from './sdp.ts';

/** Takes over a channel whose call has been answered. */
export type ChannelAnswered = (channel: Channel, controller: { readonly host: string; readonly port: number }) => void;

/** The SIP side of the server: one profile that turns INVITEs into channels. */
export class SipProfile {
  readonly endpoint: SipEndpoint;
  readonly #core: MediaCore;
  readonly #ports: PortPool;
  readonly #hosts: MediaHosts;
  readonly #onAnswered: ChannelAnswered;
  readonly #callers: Callers;
  readonly #calls = new Map<string, Call>();
  readonly #dtls = new DtlsThread();
  #port = 0;
  #closed = false;

  constructor(
    core: MediaCore,
    { ports, hosts, callers }: { readonly ports: PortPool; readonly hosts: MediaHosts; readonly callers: Callers },
    onAnswered: ChannelAnswered,
  ) {
    this.#callers = callers;
    this.#hosts = hosts;
    this.#core = core;
    this.#ports = ports;
    this.#onAnswered = onAnswered;
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

  /** Dialogs alive. */
  get calls(): number {
    return this.#calls.size;
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
    this.#closed = true;
    await Promise.all([this.endpoint.close(), this.#dtls.close()]);
  }

  #callOf(invite: ServerTransaction): Call | undefined {
    const { request, localTag } = invite;
    return this.#calls.get(`${request.callId}|${localTag}|${request.fromTag ?? ''}`);
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
    const call = this.#calls.get(Dialog.keyOf(request));
    if (call === undefined) transaction.reply(481, { headers: { 'User-Agent': USER_AGENT } });
    else if (!call.dialog.accept(request))
      transaction.reply(500, { headers: { 'User-Agent': USER_AGENT, 'Retry-After': '0' } });
    else this.#requestInDialog(call, transaction);
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
    const controller = controllerOf(request);
    if (controller === undefined) {
      transaction.reply(404, { headers: refusalHeaders(reasonHeader('NO_ROUTE_DESTINATION')) });
      return;
    }
    const text = request.body.toString('latin1');
    if (text !== '' && !describesSession(request)) {
      transaction.reply(415, { headers: refusalHeaders() });
      return;
    }
    const remote = text === '' ? undefined : readDescription(text);
    if (text !== '' && remote === undefined) {
      transaction.reply(400, { reason: BAD_DESCRIPTION, headers: refusalHeaders() });
      return;
    }
    if (remote !== undefined && !(remote.audio !== undefined && remote.audio.codecs.length > 0)) {
      transaction.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
      return;
    }
    if (this.#core.channels.size >= MAX_SESSIONS) {
      transaction.reply(503, { headers: refusalHeaders(reasonHeader('SWITCH_CONGESTION')) });
      return;
    }
    const host = this.#hosts.choose(farEndOf(request, remote));
    if (host === undefined) {
      const headers = { ...refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')), Warning: WRONG_FAMILY };
      transaction.reply(488, { headers });
      return;
    }
    const rtp = await this.#openRtp(host);
    if (rtp === undefined) {
      transaction.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
      return;
    }
    // Cancelled, or the server closed, while the ports were opened.
    if (!transaction.open || this.#closed) rtp.close();
    else await this.#answer(transaction, remote, rtp, caller, controller);
  }

  /** The address of the profile that the peer of a request reaches. */
  #ownHost({ source: { transport, address: host, port } }: ServerTransaction): string {
    return this.endpoint.addressFor({ transport, host, port }).host;
  }

  async #openRtp({ host, told }: MediaHost): Promise<RtpSession | undefined> {
    try {
      const pair = await this.#ports.open(host);
      return new RtpSession(pair, told, this.#core);
    } catch (error) {
      if (error instanceof NoPortError) return undefined;
      throw error;
    }
  }

  async #answer(
    transaction: ServerTransaction,
    remote: ReturnType<typeof readDescription>,
    rtp: RtpSession,
    caller: Caller,
    controller: { host: string; port: number },
  ): Promise<void> {
    const { request } = transaction;
    const user = userOf(request.uri) ?? 'drachtio';
    const dialog = new Dialog(this.endpoint, transaction);
    const host = this.#ownHost(transaction);
    const contact = `<sip:${user}@${formatHostPort(host, this.#port)};transport=${transaction.source.transport}>`;
    const call = new Call(dialog, rtp, contact, this.#dtls, (ended) => this.#calls.delete(ended.dialog.key));
    this.#calls.set(dialog.key, call);
    const channel = new Channel(
      this.#core,
      {
        channelName: `sofia/${this.#core.profileName}/${caller.uri}`,
        callerIdName: caller.name,
        callerIdNumber: caller.number,
        networkAddress: transaction.source.address,
        destinationNumber: user,
        context: 'mrf',
      },
      rtp,
      call,
    );
    call.channel = channel;
    this.#core.enter(channel);
    this.#core.sessions.began(this.#core.channels.size);
    for (const [name, value] of callVariables(this.#core, channel, transaction)) channel.variables.set(name, value);
    call.offered(remote);
    channel.setState('CS_INIT');
    channel.publish('CHANNEL_CREATE');
    channel.setState('CS_ROUTING');
    channel.setCallState('RINGING');
    channel.setState('CS_EXECUTE');
    for (const [name, value] of [...DIALPLAN_VARIABLES, FAX_VARIABLE]) channel.set(name, value);
    for (const [name, value] of [...timeoutVariables(request), ...secureVariables(request)]) channel.set(name, value);
    if (call.needsPreparation(remote) && !(await this.#prepare(call, transaction, remote))) return;
    const identity = `"${user}" <sip:${user}@${formatHost(host)}>;party=calling;privacy=off;screen=no`;
    call.answer(transaction, remote, {
      'Allow-Events': 'talk, hold, conference, refer',
      ...(remote === undefined ? {} : { 'Remote-Party-ID': identity }),
    });
    const now = Date.now() * 1000;
    if (remote === undefined) {
      // The server makes the first offer, which FreeSWITCH counts as early media.
      channel.times.progressMedia = now;
      channel.set('endpoint_disposition', 'EARLY MEDIA');
      channel.publish('CHANNEL_PROGRESS_MEDIA');
      channel.setCallState('EARLY');
    }
    channel.times.answered = now;
    channel.publish('CHANNEL_ANSWER');
    channel.setCallState('ACTIVE');
    for (const [name, value] of answeredVariables(dialog)) channel.set(name, value);
    // Without an offer the endpoint is usable only after the ACK has brought the answer.
    if (remote !== undefined) this.#onAnswered(channel, controller);
    else {
      transaction.onAck = (ack) => {
        call.acknowledged(ack);
        if (!channel.ended) this.#onAnswered(channel, controller);
      };
    }
  }

  /** Loads what DTLS and the codec need. @returns false when the call is over, or has been refused */
  async #prepare(call: Call, transaction: ServerTransaction, remote: RemoteDescription | undefined): Promise<boolean> {
    try {
      await call.prepare(remote);
      if (transaction.open && !this.#closed) return true;
    } catch (error) {
      reportFault('encryption or codec', error);
      if (transaction.open)
        transaction.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
    }
    call.receivedBye();
    return false;
  }
}

/** RFC 3261 section 20.43. */
const WRONG_FAMILY = '301 ringmaster "Incompatible network address formats"';

/** `X-Media-Peer`: the IP address that the far end's SIP comes from. */
function farEndOf(request: SipRequest, remote: RemoteDescription | undefined): FarEnd {
  const peer = request.header('x-media-peer')?.trim();
  const audio = remote?.audio;
  return {
    peer: peer === undefined || isIP(peer) === 0 || peer.includes('%') ? undefined : peer,
    media: audio?.address,
    bound: audio !== undefined && audio.dtls?.ice === undefined,
  };
}

/** Whether the body counts as a session description. */
function describesSession(request: SipRequest): boolean {
  const type = request.header('content-type') ?? 'application/sdp';
  return type.split(';')[0]?.trim().toLowerCase() === 'application/sdp';
}

/** `X-esl-outbound: host:port`: the address of the client that controls the channel. */
function controllerOf(request: SipRequest): { host: string; port: number } | undefined {
  const match = /^\s*([A-Za-z0-9.-]+):(\d{1,5})\s*$/.exec(request.header('x-esl-outbound') ?? '');
  const port = Number(match?.[2]);
  return match === null || port < 1 || port > 65_535 ? undefined : { host: match[1] as string, port };
}

function userOf(uri: string): string | undefined {
  try {
    return parseUri(uri).user;
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

interface Caller {
  readonly name: string;
  readonly number: string | undefined;
  readonly uri: string;
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
