/** Turns requests for a channel into channels, however they came. */
import { isIP } from 'node:net';
import { formatHost, type ServerTransaction, type SipRequest } from '../../stack/index.ts';
import { Channel } from '../channel/channel.ts';
import { reportFault } from '../core/fault.ts';
import type { EslSocket } from '../esl/connection.ts';
import { reasonHeader } from '../core/hangup-cause.ts';
import { MAX_SESSIONS } from '../core/identity.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { FarEnd, MediaHost, MediaHosts } from '../rtp/media-hosts.ts';
import { NoPortError, type PortPool } from '../rtp/ports.ts';
import { RtpSession } from '../rtp/session.ts';
import { DtlsThread } from '../webrtc/dtls-thread.ts';
import { Call, type CallDialog } from './call.ts';
import { DIALPLAN_VARIABLES, FAX_VARIABLE, secureVariables, timeoutVariables } from './call-variables.ts';
import { refusalHeaders } from './headers.ts';
import { BAD_DESCRIPTION, readDescription, type RemoteDescription } from './sdp.ts';

/** The client that controls a channel. */
export interface Controller {
  readonly host: string;
  readonly port: number;
}

/** Takes over a channel whose call has been answered. */
export type ChannelAnswered = (channel: Channel, controller: Controller, direct: EslSocket | undefined) => void;

export interface Caller {
  readonly name: string;
  readonly number: string | undefined;
  readonly uri: string;
}

/** An INVITE, and its answer. */
export type Invitation = Pick<ServerTransaction, 'request' | 'open' | 'onAck' | 'reply'>;

/** A request for a channel: by SIP, or from within the process. */
export interface Arrival {
  readonly invite: Invitation;
  readonly caller: Caller;
  /** User of the called address. */
  readonly user: string;
  /** Address that it came from, and the server's own towards it. */
  readonly from: string;
  readonly host: string;
  readonly contact: string;
  readonly dialog: CallDialog;
  /** Variables that the channel has from the beginning, and from the answer on. */
  variables(channel: Channel): readonly (readonly [string, string])[];
  answeredVariables(): readonly (readonly [string, string])[];
  /** Opens a connection to a controller in this process. By default one to `X-esl-outbound` is opened. */
  control?(): EslSocket;
  /** The call that it became, and its end. */
  began(call: Call): void;
  ended(): void;
}

/** RFC 3261 section 20.43. */
const WRONG_FAMILY = '301 ringmaster "Incompatible network address formats"';

/** Answers requests for channels. */
export class Reception {
  readonly #core: MediaCore;
  readonly #ports: PortPool;
  readonly #hosts: MediaHosts;
  readonly #onAnswered: ChannelAnswered;
  readonly #dtls = new DtlsThread();
  #calls = 0;
  #closed = false;

  constructor(
    core: MediaCore,
    { ports, hosts }: { readonly ports: PortPool; readonly hosts: MediaHosts },
    onAnswered: ChannelAnswered,
  ) {
    this.#core = core;
    this.#ports = ports;
    this.#hosts = hosts;
    this.#onAnswered = onAnswered;
  }

  /** Dialogs alive. */
  get calls(): number {
    return this.#calls;
  }

  /** Answers no more requests. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#dtls.close();
  }

  /**
   * Answers or refuses a request.
   * @throws SipParseError when it cannot be read
   */
  async receive(arrival: Arrival): Promise<void> {
    const { invite } = arrival;
    const controller = controllerOf(invite.request);
    if (controller === undefined) {
      invite.reply(404, { headers: refusalHeaders(reasonHeader('NO_ROUTE_DESTINATION')) });
      return;
    }
    const text = invite.request.body.toString('latin1');
    const remote = text === '' ? undefined : readDescription(text);
    if (text !== '' && remote === undefined) {
      invite.reply(400, { reason: BAD_DESCRIPTION, headers: refusalHeaders() });
      return;
    }
    if (remote !== undefined && !(remote.audio !== undefined && remote.audio.codecs.length > 0)) {
      invite.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
      return;
    }
    if (this.#core.channels.size >= MAX_SESSIONS) {
      invite.reply(503, { headers: refusalHeaders(reasonHeader('SWITCH_CONGESTION')) });
      return;
    }
    const host = this.#hosts.choose(farEndOf(invite.request, remote));
    if (host === undefined) {
      const headers = { ...refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')), Warning: WRONG_FAMILY };
      invite.reply(488, { headers });
      return;
    }
    const rtp = await this.#openRtp(host);
    if (rtp === undefined) {
      invite.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
      return;
    }
    // Cancelled, or the server closed, while the ports were opened.
    if (!invite.open || this.#closed) rtp.close();
    else await this.#answer(arrival, remote, rtp, controller);
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
    arrival: Arrival,
    remote: RemoteDescription | undefined,
    rtp: RtpSession,
    controller: Controller,
  ): Promise<void> {
    const { invite, caller, user, host } = arrival;
    const call = new Call(arrival.dialog, rtp, arrival.contact, this.#dtls, () => {
      this.#calls -= 1;
      arrival.ended();
    });
    this.#calls += 1;
    arrival.began(call);
    const channel = new Channel(
      this.#core,
      {
        channelName: `sofia/${this.#core.profileName}/${caller.uri}`,
        callerIdName: caller.name,
        callerIdNumber: caller.number,
        networkAddress: arrival.from,
        destinationNumber: user,
        context: 'mrf',
      },
      rtp,
      call,
    );
    call.channel = channel;
    this.#core.enter(channel);
    this.#core.sessions.began(this.#core.channels.size);
    for (const [name, value] of arrival.variables(channel)) channel.variables.set(name, value);
    call.offered(remote);
    channel.setState('CS_INIT');
    channel.publish('CHANNEL_CREATE');
    channel.setState('CS_ROUTING');
    channel.setCallState('RINGING');
    channel.setState('CS_EXECUTE');
    for (const [name, value] of [...DIALPLAN_VARIABLES, FAX_VARIABLE]) channel.set(name, value);
    const { request } = invite;
    for (const [name, value] of [...timeoutVariables(request), ...secureVariables(request)]) channel.set(name, value);
    if (call.needsPreparation(remote) && !(await this.#prepare(call, invite, remote))) return;
    const identity = `"${user}" <sip:${user}@${formatHost(host)}>;party=calling;privacy=off;screen=no`;
    call.answer(invite, remote, {
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
    for (const [name, value] of arrival.answeredVariables()) channel.set(name, value);
    channel.set('endpoint_disposition', 'ANSWER');
    const direct = arrival.control?.();
    const attach = () => this.#onAnswered(channel, controller, direct);
    // Without an offer the endpoint is usable only after the ACK has brought the answer. A program in this process sends it before
    // anything else.
    if (remote !== undefined || direct !== undefined) attach();
    else {
      invite.onAck = (ack) => {
        call.acknowledged(ack);
        if (!channel.ended) attach();
      };
    }
  }

  /** Loads what DTLS and the codec need. @returns false when the call is over, or has been refused */
  async #prepare(call: Call, invite: Invitation, remote: RemoteDescription | undefined): Promise<boolean> {
    try {
      await call.prepare(remote);
      if (invite.open && !this.#closed) return true;
    } catch (error) {
      reportFault('encryption or codec', error);
      if (invite.open) invite.reply(488, { headers: refusalHeaders(reasonHeader('INCOMPATIBLE_DESTINATION')) });
    }
    call.receivedBye();
    return false;
  }
}

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

/** `X-esl-outbound: host:port`: the address of the client that controls the channel. */
function controllerOf(request: SipRequest): Controller | undefined {
  const match = /^\s*([A-Za-z0-9.-]+):(\d{1,5})\s*$/.exec(request.header('x-esl-outbound') ?? '');
  const port = Number(match?.[2]);
  return match === null || port < 1 || port > 65_535 ? undefined : { host: match[1] as string, port };
}
