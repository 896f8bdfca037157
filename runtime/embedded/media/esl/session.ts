/** Commands of an event socket client. */
import type { Channel } from '../channel/channel.ts';
import { dataHeaders } from '../channel/headers.ts';
import { hangupCause } from '../core/hangup-cause.ts';
import type { MediaCore } from '../core/media-core.ts';
import { reportFault } from '../core/fault.ts';
import { runApi } from '../api/command.ts';
import type { EslCommand } from './command-parser.ts';
import type { EslConnection } from './connection.ts';
import { plainHeaders } from './event.ts';
import { runInBackground } from './background-job.ts';

/** Seconds that an outbound connection stays open after its call, for `linger` without a number. */
const DEFAULT_LINGER_SECONDS = 3600;

/** Handles a client's commands after `auth`, or after the connection to a controller. */
export class EslSession {
  readonly #core: MediaCore;
  readonly #connection: EslConnection;
  readonly #channel: Channel | undefined;
  #apiChain: Promise<void> | undefined;

  private constructor(core: MediaCore, connection: EslConnection, channel: Channel | undefined) {
    this.#core = core;
    this.#connection = connection;
    this.#channel = channel;
  }

  /**
   * Starts serving a connection.
   *
   * @param channel the channel that an outbound connection controls
   */
  static open(core: MediaCore, connection: EslConnection, channel: Channel | undefined): void {
    const session = new EslSession(core, connection, channel);
    core.bus.add(connection);
    connection.onCommand = (command) => session.#handle(command);
  }

  /** Runs a command and sends its reply. */
  #handle(command: EslCommand): void {
    const space = command.line.indexOf(' ');
    const verb = (space < 0 ? command.line : command.line.slice(0, space)).toLowerCase();
    const rest = space < 0 ? '' : command.line.slice(space + 1).trim();
    const words = rest.split(/\s+/).filter((word) => word !== '');
    const { subscription } = this.#connection;
    switch (verb) {
      case 'api':
        this.#api(rest);
        break;
      case 'bgapi':
        this.#connection.replyHeaders(runInBackground(this.#core, rest, command.headers.get('job-uuid')));
        break;
      case 'sendmsg':
        this.#sendMessage(words[0], command);
        break;
      case 'event':
      case 'events':
        this.#subscribe(words);
        break;
      case 'myevents':
        this.#myEvents(words);
        break;
      case 'nixevent':
        this.#connection.reply(subscription.unsubscribe(words) ? '+OK events nixed' : '-ERR no keywords supplied');
        break;
      case 'noevents':
        subscription.clear();
        this.#connection.reply('+OK no longer listening for events');
        break;
      case 'filter':
        this.#filter(words);
        break;
      case 'brief':
        this.#brief(words);
        break;
      case 'connect':
        this.#connect();
        break;
      case 'linger':
        this.#linger(words[0]);
        break;
      case 'nolinger':
        this.#connection.lingerSeconds = 0;
        this.#connection.reply('+OK will not linger');
        break;
      case 'log':
      case 'nolog':
      case 'divert_events':
      case 'resume':
        this.#connection.reply('+OK');
        break;
      case 'getvar':
        this.#connection.reply(this.#channel?.get(rest) ?? '');
        break;
      case 'sendevent':
        this.#connection.reply('+OK');
        break;
      case 'exit':
      case 'quit':
        this.#connection.reply('+OK bye');
        this.#connection.disconnect();
        break;
      default:
        this.#connection.reply('-ERR command not found');
    }
  }

  /** API commands of one connection are answered in order, although some take a while. */
  #api(rest: string): void {
    const result =
      this.#apiChain === undefined ? runApi(this.#core, rest) : this.#apiChain.then(() => runApi(this.#core, rest));
    if (typeof result === 'string') {
      this.#connection.apiResponse(result);
      return;
    }
    const chain = result
      .catch((error: unknown) => {
        reportFault(`api ${rest.slice(0, 80)}`, error);
        return '-ERR internal error\n';
      })
      .then((text) => {
        this.#connection.apiResponse(text);
        if (this.#apiChain === chain) this.#apiChain = undefined;
      });
    this.#apiChain = chain;
  }

  #sendMessage(uuid: string | undefined, command: EslCommand): void {
    const channel = uuid === undefined ? this.#channel : this.#core.channels.get(uuid);
    if (channel === undefined || channel.ended) {
      this.#connection.reply(`-ERR invalid session id [${uuid ?? ''}]`);
      return;
    }
    const { headers } = command;
    const call = headers.get('call-command');
    if (call === 'execute') this.#execute(channel, command);
    else if (call === 'hangup') {
      this.#connection.reply('+OK');
      channel.hangup(hangupCause(headers.get('hangup-cause') ?? ''), 'api');
    } else this.#connection.reply(call === undefined ? '-ERR no call-command' : '-ERR unsupported call-command');
  }

  #execute(channel: Channel, { headers, body }: EslCommand): void {
    const application = headers.get('execute-app-name') ?? '';
    const data = headers.get('execute-app-arg') ?? body;
    const loops = Math.min(Math.max(Number(headers.get('loops') ?? 1) || 1, 1), 100);
    if (application === '') {
      this.#connection.reply('-ERR no execute-app-name');
      return;
    }
    let queued = true;
    for (let loop = 0; loop < loops && queued; loop += 1) {
      queued = channel.enqueue(application, data, headers.get('event-uuid'));
    }
    this.#connection.reply(queued ? '+OK' : '-ERR memory error');
  }

  #subscribe(words: readonly string[]): void {
    const [first = '', ...names] = words;
    const { subscription } = this.#connection;
    const format = first.toLowerCase();
    if (format === 'xml') {
      this.#connection.reply('-ERR xml events are not supported, use json or plain');
      return;
    }
    const given = format === 'json' || format === 'plain';
    if (given) subscription.format = format;
    const done = subscription.subscribe(given ? names : words);
    const reply = `+OK event listener enabled ${subscription.format}`;
    this.#connection.reply(done ? reply : '-ERR no keywords supplied');
  }

  #myEvents(words: readonly string[]): void {
    const uuid = words.find((word) => word.includes('-')) ?? this.#channel?.uuid;
    const { subscription } = this.#connection;
    if (uuid === undefined) {
      this.#connection.reply('-ERR invalid uuid');
      return;
    }
    if (words.includes('json')) subscription.format = 'json';
    subscription.subscribe(['ALL']);
    subscription.addFilter('Unique-ID', uuid);
    this.#connection.reply('+OK Events Enabled');
  }

  #filter(words: readonly string[]): void {
    const { subscription } = this.#connection;
    const [header = '', ...value] = words;
    if (header === 'delete') {
      const [name = 'all', ...of] = value;
      subscription.deleteFilter(name, of.length === 0 ? undefined : of.join(' '));
      this.#connection.reply(`+OK filter deleted. [${name}]=[${of.join(' ')}]`);
    } else if (value.length === 0) this.#connection.reply('-ERR invalid syntax');
    else if (subscription.addFilter(header, value.join(' '))) {
      this.#connection.reply(`+OK filter added. [${header}]=[${value.join(' ')}]`);
    } else this.#connection.reply('-ERR too many filters');
  }

  /** Not in FreeSWITCH, which answers `-ERR command not found`, and goes on with whole events. */
  #brief([name, ...headers]: readonly string[]): void {
    if (name === undefined) this.#connection.reply('-ERR no keywords supplied');
    else if (this.#connection.subscription.takeBriefly(name, headers)) this.#connection.reply('+OK');
    else this.#connection.reply('-ERR too many events');
  }

  #connect(): void {
    if (this.#channel === undefined) this.#connection.reply('-ERR command not found');
    else this.#connection.replyHeaders(plainHeaders(dataHeaders(this.#channel)));
  }

  #linger(seconds: string | undefined): void {
    this.#connection.lingerSeconds = Math.min(Number(seconds) || DEFAULT_LINGER_SECONDS, DEFAULT_LINGER_SECONDS);
    this.#connection.reply('+OK will linger');
  }
}
