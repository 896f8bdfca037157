import { basename } from 'node:path';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { EmbeddedServer, MediaServerStats } from '../../../../runtime/embedded/index.ts';
import { EslClient, type EslFrame } from './esl-client.ts';
import { CallRefused, type MiniDialog, MiniSrf } from './mini-srf.ts';
import { RtpPhone } from './rtp-phone.ts';

/** Milliseconds to wait for a recorded reaction. */
const PATIENCE_MS = 4000;

/** One step of a recording: an action of the client or caller, or a reaction of the server. */
export interface Step {
  readonly step: string;
  readonly conn?: string;
  readonly call?: number;
  readonly text?: string;
  readonly event?: Readonly<Record<string, string>>;
  readonly names?: readonly string[];
  readonly sdp?: string;
  readonly port?: number;
  readonly digit?: string;
  readonly status?: number;
  readonly refused?: boolean;
  readonly formats?: readonly string[];
  readonly direction?: string;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly controller?: string;
}

/** A recorded flow with the real server. */
/** Formats that the recorded server did not have: comfort noise, and wideband with its telephone-event. */
const UNRECORDED: ReadonlySet<string> = new Set(['13', '102', '9', '103']);

export interface Recording {
  readonly flow: string;
  /** Ports of the callers that sent audio. */
  readonly talkers: readonly number[];
  readonly steps: readonly Step[];
}

/**
 * Events ordered only among themselves: digits depend on the far end, and a playback starts when
 * its file is open, which takes time.
 */
function streamOf(event: string | undefined): string {
  return event === 'DTMF' || event === 'PLAYBACK_START' ? event : '';
}

/** Headers of CHANNEL_DATA with the source line of an event, or of functions not offered here. */
const NOT_SHOWN =
  /Calling|crypto|^variable_(?:video|text|remote_video|remote_text|media_|rtp_timeout|rtp_hold|rtp_has|rtp_secure|rtp_last_(?:video|text)|ep_codec|DP_MATCH|current_loop|total_loops|sip_reinvite|export_vars|last_dtmf|rtp_audio_in_|rtp_video)/;

/** Plays the clients' and callers' side of a recording against a media server, and collects the differences. */
export class Replay {
  readonly differences: string[] = [];
  readonly #server: EmbeddedServer<MediaServerStats>;
  readonly #srf: MiniSrf;
  readonly #listener: Server;
  readonly #connections = new Map<string, EslClient>();
  readonly #calls = new Map<
    number,
    { answer: Promise<MiniDialog | CallRefused>; dialog?: MiniDialog; sdp?: string; bye: Promise<unknown> }
  >();
  readonly #phones = new Map<number, RtpPhone>();
  readonly #values = new Map<string, string>();
  readonly #recording: Recording;
  #accepted = 0;

  private constructor(server: EmbeddedServer<MediaServerStats>, srf: MiniSrf, listener: Server, recording: Recording) {
    this.#server = server;
    this.#srf = srf;
    this.#listener = listener;
    this.#recording = recording;
    listener.on('connection', (socket) => {
      this.#accepted += 1;
      this.#connections.set(`outbound${this.#accepted}`, new EslClient(socket));
      listener.emit('accepted');
    });
  }

  /** Runs a recording; the result is empty when all relevant output is as recorded. */
  static async run(server: EmbeddedServer<MediaServerStats>, recording: Recording): Promise<string[]> {
    const listener = createServer();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const replay = new Replay(server, await MiniSrf.start(), listener, recording);
    try {
      for (const [index, step] of recording.steps.entries()) await replay.#do(index, step);
    } finally {
      await replay.#close();
    }
    return replay.differences;
  }

  async #do(index: number, step: Step): Promise<void> {
    const differ = (expected: unknown, found: unknown): void => {
      const [left, right] = [JSON.stringify(expected), JSON.stringify(found)];
      if (left !== right)
        this.differences.push(
          `step ${index} (${step.step} ${step.conn ?? step.call ?? ''}): recorded ${left}, here ${right}`,
        );
    };
    switch (step.step) {
      case 'open':
        this.#connections.set(
          step.conn as string,
          await EslClient.connect(this.#server.addresses['eventSocket'] as string),
        );
        break;
      case 'send':
        (await this.#connection(step))?.send(`${this.#fill(step.text as string)}\n\n`);
        break;
      case 'fin':
        (await this.#connection(step))?.end();
        break;
      case 'press':
        this.#phones.get(step.port as number)?.press(step.digit as string);
        break;
      case 'silence':
        this.#phones.get(step.port as number)?.tune(0);
        break;
      case 'invite':
        await this.#invite(step);
        break;
      case 'reinvite':
        await this.#reinvite(step);
        break;
      case 'bye':
        await this.#calls.get(step.call as number)?.dialog?.destroy();
        break;
      case 'answer':
        differ(expectedAnswer(step), await this.#answer(step));
        break;
      case 'byeReceived': {
        const call = this.#calls.get(step.call as number);
        await Promise.race([call?.bye, pause(PATIENCE_MS)]);
        differ(step.reason, call?.dialog?.byeHeaders?.header('reason'));
        break;
      }
      default:
        await this.#expect(step, differ);
    }
  }

  async #expect(step: Step, differ: (expected: unknown, found: unknown) => void): Promise<void> {
    const connection = await this.#connection(step);
    if (connection === undefined) {
      differ('a connection', 'none');
      return;
    }
    if (step.step === 'event') {
      await this.#expectEvent(step, connection, differ);
      return;
    }
    const types: Record<string, string> = {
      auth: 'auth/request',
      reply: 'command/reply',
      data: 'command/reply',
      api: 'api/response',
      dump: 'api/response',
      goodbye: 'text/disconnect-notice',
    };
    const frame = await connection.take((each) => each.type === types[step.step], PATIENCE_MS);
    if (frame === undefined) differ(step.text ?? step.step, 'nothing');
    else if (step.step === 'reply') differ(this.#fill(step.text as string), frame.headers.get('Reply-Text'));
    else if (step.step === 'api')
      differ(comparable(this.#fill(step.text as string)), comparable(this.#ports(frame.body)));
    else if (step.step === 'data' || step.step === 'dump') this.#learn(step, frame, differ);
  }

  async #expectEvent(
    step: Step,
    connection: EslClient,
    differ: (expected: unknown, found: unknown) => void,
  ): Promise<void> {
    const recorded = step.event as Record<string, string>;
    const stream = streamOf(recorded['Event-Name']);
    const wanted = (frame: EslFrame): boolean => {
      if (frame.type !== 'text/event-json') return false;
      const { 'Event-Name': name, Action: action = '' } = JSON.parse(frame.body) as Record<string, string>;
      if (name === 'HEARTBEAT' || /^(?:start|stop)-talking$|^floor-change$/.test(action)) return false;
      // The file may be complete before or after the answer to the next command.
      if ((action === 'stop-recording') !== (recorded['Action'] === 'stop-recording')) return false;
      return streamOf(name) === stream;
    };
    const frame = await connection.take(wanted, PATIENCE_MS);
    if (frame === undefined) {
      differ(recorded, 'nothing');
      return;
    }
    const event = JSON.parse(frame.body) as Record<string, string>;
    if (event['Conference-Unique-ID'] !== undefined) this.#learnConference(event['Conference-Unique-ID']);
    const expected: Record<string, string> = {};
    const found: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(recorded)) {
      if (value.startsWith('$MEMBER') && !this.#values.has(value)) this.#values.set(value, event[name] ?? '');
      expected[name] = this.#fill(value);
      found[name] = this.#ports(withoutFolder(name, event[name] ?? ''));
    }
    differ(expected, found);
  }

  /** Takes the channel's id from its data, and looks for the headers of the real server. */
  #learn(step: Step, frame: EslFrame, differ: (expected: unknown, found: unknown) => void): void {
    const text = step.step === 'data' ? frame.head : frame.body;
    const uuid = /^Unique-ID: (\S+)$/m.exec(text)?.[1] ?? '';
    if (step.step === 'data') this.#values.set(`$UUID${(step.conn as string).replace('outbound', '')}`, uuid);
    const names = new Set(Array.from(text.matchAll(/^([A-Za-z][\w.-]*): /gm), (match) => match[1]));
    const missing = (step.names ?? []).filter((name) => !names.has(name) && !NOT_SHOWN.test(name));
    differ([], missing);
  }

  #learnConference(uuid: string): void {
    const known = [...this.#values].filter(([name]) => name.startsWith('$CONF'));
    if (!known.some(([, value]) => value === uuid)) this.#values.set(`$CONF${known.length + 1}`, uuid);
  }

  #fill(text: string): string {
    return text.replaceAll(/\$(?:UUID|CONF|MEMBER)\d+/g, (name) => this.#values.get(name) ?? name);
  }

  /** The address of the profile is the recorded one except for its port. */
  #ports(text: string): string {
    const port = (this.#server.addresses['sip'] as string).split(':')[1] as string;
    const own = (this.#listener.address() as AddressInfo).port;
    return text.replaceAll(`127.0.0.1:${port}`, '127.0.0.1:5080').replaceAll(`127.0.0.1:${own}`, '127.0.0.1:8085');
  }

  async #connection(step: Step): Promise<EslClient | undefined> {
    const end = performance.now() + PATIENCE_MS;
    while (!this.#connections.has(step.conn as string)) {
      const left = end - performance.now();
      if (left <= 0) return undefined;
      await Promise.race([once(this.#listener, 'accepted'), pause(left)]);
    }
    return this.#connections.get(step.conn as string);
  }

  async #phone(port: number): Promise<RtpPhone> {
    let phone = this.#phones.get(port);
    if (phone === undefined) {
      phone = await RtpPhone.open();
      this.#phones.set(port, phone);
    }
    return phone;
  }

  async #localSdp(step: Step): Promise<string | undefined> {
    if (step.sdp === undefined) return undefined;
    const phone = await this.#phone(step.port as number);
    return `${step.sdp.replaceAll('\n', '\r\n').replace(`m=audio ${step.port} `, `m=audio ${phone.port} `)}\r\n`;
  }

  async #invite(step: Step): Promise<void> {
    const { port } = this.#listener.address() as AddressInfo;
    const localSdp = await this.#localSdp(step);
    const { promise, resolve } = Promise.withResolvers<void>();
    const answer = this.#srf
      .createUAC(`sip:drachtio@${this.#server.addresses['sip'] as string}`, {
        headers: {
          ...step.headers,
          'User-Agent': 'drachtio-fsmrf:replay',
          'X-esl-outbound': step.controller ?? `127.0.0.1:${port}`,
        },
        ...(localSdp === undefined ? {} : { localSdp }),
      })
      .then(
        (dialog) => {
          dialog.once('destroy', resolve);
          const call = this.#calls.get(step.call as number);
          if (call !== undefined) call.dialog = dialog;
          if (localSdp !== undefined && this.#recording.talkers.includes(step.port as number)) {
            this.#phones.get(step.port as number)?.talk(dialog.remote.sdp, 440);
          }
          return dialog;
        },
        (error: unknown) => {
          if (error instanceof CallRefused) return error;
          throw error;
        },
      );
    this.#calls.set(step.call as number, { answer, bye: promise });
  }

  async #reinvite(step: Step): Promise<void> {
    const call = this.#calls.get(step.call as number);
    const sdp = await this.#localSdp(step);
    if (call?.dialog === undefined || sdp === undefined)
      throw new Error('the recording modifies a call that is not up');
    call.answer = call.dialog.modify(sdp).then(() => call.dialog as MiniDialog);
  }

  async #answer(step: Step): Promise<object> {
    const answer = await this.#calls.get(step.call as number)?.answer;
    if (answer === undefined) return {};
    if (answer instanceof CallRefused) return { status: answer.status, reason: answer.response.header('reason') };
    const { sdp } = answer.remote;
    const media = /^m=audio (\d+) RTP\/AVP (.*)$/m.exec(sdp);
    const refused = media?.[1] === '0';
    const formats = refused ? [] : (media?.[2] ?? '').split(' ').filter((format) => !UNRECORDED.has(format));
    const direction = /^a=(inactive|sendonly|recvonly)/m.exec(sdp)?.[1] ?? 'sendrecv';
    return { status: 200, refused, formats, direction };
  }

  async #close(): Promise<void> {
    for (const connection of this.#connections.values()) connection.destroy();
    for (const phone of this.#phones.values()) await phone.close();
    await this.#srf.close();
    this.#listener.close();
  }
}

function expectedAnswer(step: Step): object {
  const { status, reason, refused, formats, direction } = step;
  return status === 200 ? { status, refused, formats, direction } : { status, reason };
}

/** Removes figures of the machine and times from an answer, and unifies ids. */
function comparable(text: string): string {
  if (text.startsWith('UP '))
    return text
      .replaceAll(/[\d.]+/g, 'N')
      .replaceAll(/(year|day|hour|minute|second|millisecond|microsecond)s?\b/g, '$1');
  if (text.startsWith('[')) return String((JSON.parse(text) as unknown[]).length);
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/nobody@127\.0\.0\.1:\d+/g, 'CALLER')
    .replaceAll(/\|talking|\|floor/g, '')
    .replaceAll(/\t +/g, '\t')
    .replaceAll(/^\d+;/gm, 'ID;')
    .replaceAll(/\b(hup|kicked|mute|unmute|deaf|undeaf) \d+/g, '$1 ID');
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** The recordings name prompts without the sound folder of the recorded machine. */
function withoutFolder(name: string, value: string): string {
  return name === 'Playback-File-Path' && value.startsWith('/') ? basename(value) : value;
}
