/** The server's side of calls from within the process. */
import type { MessagePort } from 'node:worker_threads';
import { reasonPhrase } from '../../../sip-facts/index.ts';
import { type ReplyOptions, SipRequest } from '../../stack/index.ts';
import type { Channel } from '../channel/channel.ts';
import { reportFault } from '../core/fault.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { Call } from '../sip/call.ts';
import type { Arrival, Invitation, Reception } from '../sip/reception.ts';
import type { FromServer, ToServer } from './messages.ts';
import { Outbox } from './outbox.ts';
import { DirectSocket } from './socket.ts';

/** User of the called address, as drachtio-fsmrf calls it. */
const USER = 'drachtio';

/** An INVITE or re-INVITE that came as a message. */
class DirectInvite implements Invitation {
  readonly request = new SipRequest('INVITE', '');
  readonly #answer: (status: number, reason: string, sdp: string) => void;
  open = true;
  onAck: Invitation['onAck'];

  /** @param answer sends the answer */
  constructor(sdp: string, answer: (status: number, reason: string, sdp: string) => void) {
    this.request.body = Buffer.from(sdp);
    this.#answer = answer;
  }

  reply(status: number, { reason, body }: ReplyOptions = {}): boolean {
    if (!this.open) return false;
    this.open = false;
    this.#answer(status, reason ?? reasonPhrase(status), body?.toString() ?? '');
    // Nothing is left to wait for once an offer has its answer.
    if (status < 300 && this.request.body.length > 0) this.acknowledge('');
    return true;
  }

  /** @param sdp the answer to the server's offer */
  acknowledge(sdp: string): void {
    const ack = new SipRequest('ACK', '');
    ack.body = Buffer.from(sdp);
    this.onAck?.(ack);
  }
}

interface Entry {
  readonly invite: DirectInvite;
  call?: Call;
}

/** Calls from the program in whose process the server runs. */
export class DirectCalls {
  readonly #core: MediaCore;
  readonly #reception: Reception;
  readonly #port: MessagePort;
  readonly #outbox: Outbox<FromServer>;
  readonly #host: string;
  readonly #calls = new Map<number, Entry>();
  readonly #controls = new Map<number, DirectSocket>();

  /**
   * @param port the server's end of the channel to the program
   * @param host address of the SIP profile
   */
  constructor(core: MediaCore, reception: Reception, port: MessagePort, host: string) {
    this.#core = core;
    this.#reception = reception;
    this.#port = port;
    this.#outbox = new Outbox(port);
    this.#host = host;
    port.on('message', (message: ToServer) => {
      try {
        this.#take(message);
      } catch (error) {
        reportFault(message.type, error);
      }
    });
  }

  close(): void {
    this.#outbox.flush();
    this.#port.close();
  }

  #take(message: ToServer): void {
    if (message.type === 'invite') {
      this.#invite(message);
      return;
    }
    if (message.type === 'control') {
      this.#controls.get(message.call)?.take(message.sent);
      return;
    }
    const entry = this.#calls.get(message.call);
    if (message.type === 'ack') entry?.invite.acknowledge(message.sdp);
    else if (message.type === 'reinvite') this.#reinvite(entry?.call, message);
    else if (entry !== undefined) {
      entry.invite.open = false;
      this.#calls.delete(message.call);
      entry.call?.receivedBye();
    }
  }

  #invite({ call: number, headers, sdp = '' }: Extract<ToServer, { type: 'invite' }>): void {
    const invite = new DirectInvite(sdp, (status, reason, body) => {
      if (status >= 300) this.#calls.delete(number);
      this.#tell({ type: 'answer', call: number, status, reason, sdp: body });
    });
    for (const [name, value] of Object.entries(headers)) invite.request.add(name, value);
    const entry: Entry = { invite };
    this.#calls.set(number, entry);
    this.#reception.receive(this.#arrival(number, entry)).catch((error: unknown) => {
      reportFault('INVITE', error);
      invite.reply(500);
    });
  }

  #reinvite(call: Call | undefined, { call: number, id, sdp }: Extract<ToServer, { type: 'reinvite' }>): void {
    const answer = (status: number, _reason: string, body: string) =>
      this.#tell({ type: 'reanswer', call: number, id, status, sdp: body });
    if (call === undefined) {
      answer(481, '', '');
      return;
    }
    const invite = new DirectInvite(sdp, answer);
    try {
      call.modify(invite);
    } catch (error) {
      reportFault('re-INVITE', error);
      invite.reply(500);
    }
  }

  #arrival(number: number, entry: Entry): Arrival {
    const host = this.#host;
    return {
      invite: entry.invite,
      caller: { name: 'unknown', number: undefined, uri: `nobody@${host}` },
      user: USER,
      from: host,
      host,
      contact: '',
      dialog: {
        send: (method, headers, body, done) => {
          if (method === 'BYE') this.#tell({ type: 'bye', call: number });
          else this.#tell({ type: 'info', call: number, contentType: headers['Content-Type'] ?? '', body });
          done();
        },
      },
      variables: (channel) => variablesOf(this.#core, channel, entry.invite.request),
      answeredVariables: () => [],
      control: () => this.#control(number),
      began: (call) => {
        entry.call = call;
      },
      ended: () => this.#calls.delete(number),
    };
  }

  #control(call: number): DirectSocket {
    let begun = false;
    const socket = new DirectSocket((sent) => {
      this.#tell(begun ? { type: 'control', call, sent } : { type: 'control', call, sent, begins: true });
      begun = true;
    });
    this.#controls.set(call, socket);
    socket.on('close', () => this.#controls.delete(call));
    return socket;
  }

  #tell(message: FromServer): void {
    this.#outbox.add(message);
  }
}

/** The variables of a call by SIP, without those of its messages and addresses. */
function variablesOf(core: MediaCore, channel: Channel, { headers }: SipRequest): [string, string][] {
  return [
    ['direction', 'inbound'],
    ['uuid', channel.uuid],
    ['session_id', String(core.sessions.figures().sinceStart)],
    ['video_media_flow', 'disabled'],
    ['text_media_flow', 'disabled'],
    ['channel_name', channel.profile.channelName],
    ['sofia_profile_name', core.profileName],
    ['recovery_profile_name', core.profileName],
    ...headers
      .filter(({ key }) => key.startsWith('x-'))
      .map(({ name, value }): [string, string] => [`sip_h_${name}`, value]),
    ...headers
      .filter(({ key }) => key === 'user-agent')
      .map(({ value }): [string, string] => ['sip_user_agent', value]),
    ['call_uuid', channel.uuid],
    ['sip_call_id', channel.uuid],
    ['endpoint_disposition', 'RECEIVED'],
  ];
}
