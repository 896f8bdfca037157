import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort, freeUdpRange } from '../support/ports.ts';
import { endsWithTone } from './media/end-of-file.ts';
import { toneFile } from './media/tone-file.ts';
import { Arrivals } from './wait.ts';

/** Reports of baresip's ctrl_tcp module. */
export interface BaresipEvent {
  readonly type: string;
  readonly param?: string;
  readonly peeruri?: string;
}

export interface BaresipAccount {
  readonly login: string;
  readonly domain: string;
  readonly password: string;
  /** `ip:port` of the server; requests go there first. */
  readonly server: string;
  /** False: calls only, without registration. */
  readonly registers?: boolean;
  readonly transport?: 'udp' | 'tcp' | 'tls';
  /** File with the server's certificate, for TLS. */
  readonly certificate?: string;
  /** How it encrypts its sound: keys by SDES, demanded with `srtp-mand`, or by DTLS. */
  readonly encryption?: 'srtp' | 'srtp-mand' | 'dtls_srtp';
  /** Its only codec, in place of G.711. */
  readonly codec?: 'opus' | 'G722';
  /** Frequency of the tone it sends. */
  readonly tone?: number;
  readonly answerMode?: 'manual' | 'auto';
}

const MODULE_FOLDERS = ['/usr/lib/baresip/modules', '/usr/local/lib/baresip/modules'];

/** A baresip process, driven by netstring JSON over TCP (its ctrl_tcp module). */
export class Baresip {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #folder: string;
  readonly #events = new Arrivals<BaresipEvent>('baresip event');
  readonly #answers = new Arrivals<string>('answer of baresip');
  #pending: Buffer = Buffer.alloc(0);
  #seen: string[] = [];

  private constructor(child: ChildProcess, socket: Socket, folder: string) {
    this.#child = child;
    this.#socket = socket;
    this.#folder = folder;
    socket.on('data', (chunk) => this.#receive(chunk));
    // The connection ends with the process.
    socket.on('error', () => socket.destroy());
  }

  /** Starts it with one account, which registers at once by default. */
  static async start(program: string, account: BaresipAccount): Promise<Baresip> {
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-baresip-'));
    const control = await freeTcpPort();
    const modules = MODULE_FOLDERS.find((path) => existsSync(path));
    if (modules === undefined) throw new Error(`no modules of baresip in ${MODULE_FOLDERS.join(' or ')}`);
    await writeFile(join(folder, 'config'), config(modules, control, await freeUdpRange(100), account));
    await writeFile(join(folder, 'tone.wav'), toneFile(account.tone ?? 440, 60, rateOf(account)));
    await writeFile(join(folder, 'accounts'), accountLine(account));
    const child = spawn(program, [account.server.startsWith('[') ? '-6' : '-4', '-f', folder], {
      stdio: 'ignore',
      cwd: folder,
    });
    try {
      return new Baresip(child, await connectSoon(control), folder);
    } catch (error) {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The next event of a type; earlier ones of other types are passed over. */
  async event(type: string, withinMs = 15_000): Promise<BaresipEvent> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const event = await this.#events.next(deadline - Date.now()).catch((error: unknown) => {
        throw new Error(`${type}: ${String(error)} (seen: ${this.#seen.join(', ')})`);
      });
      if (event.type === type) return event;
    }
  }

  /** Waits until its account is registered. */
  async registered(withinMs = 15_000): Promise<void> {
    await eventually(async () => {
      this.#command('reginfo');
      const info = await this.#answers.next(1000);
      if (!/OK \S*\s*Expires/.test(info)) throw new Error(`baresip is not registered: ${info}`);
    }, withinMs);
  }

  dial(uri: string): void {
    this.#command('dial', uri);
  }

  accept(): void {
    this.#command('accept');
  }

  hangup(): void {
    this.#command('hangup');
  }

  /** One DTMF digit of the running call. */
  digit(digit: string): void {
    this.#command('sndcode', digit);
  }

  /** Waits until its user hears this tone: it is in the last 200 ms of the sound that baresip has decoded. */
  async hears(frequency: number, withinMs = 15_000): Promise<void> {
    await eventually(async () => {
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith('-dec.wav')).toSorted();
      const file = await readFile(join(this.#folder, names.at(-1) ?? 'no sound yet'));
      if (!endsWithTone(file, frequency)) throw new Error(`baresip does not hear ${frequency} Hz`);
    }, withinMs);
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      const ended = await Promise.race([exited, delay(5000, undefined, { ref: false })]);
      if (ended === undefined) this.#child.kill('SIGKILL');
    }
    this.#socket.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #command(command: string, params?: string): void {
    const text = JSON.stringify({ command, ...(params === undefined ? {} : { params }) });
    this.#socket.write(`${Buffer.byteLength(text)}:${text},`);
  }

  #receive(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const colon = this.#pending.indexOf(':');
      const size = Number(this.#pending.subarray(0, Math.max(colon, 0)).toString('latin1'));
      if (colon < 0 || this.#pending.length < colon + size + 2) return;
      const text = this.#pending.subarray(colon + 1, colon + 1 + size).toString('utf8');
      this.#pending = this.#pending.subarray(colon + size + 2);
      const message: BaresipEvent & { event?: boolean; data?: string } = JSON.parse(text);
      if (message.event !== true) {
        if (message.data?.includes('User Agents')) this.#answers.push(message.data);
        continue;
      }
      this.#seen.push(message.type);
      this.#events.push(message);
    }
  }
}

function config(modules: string, control: number, rtp: { from: number; to: number }, account: BaresipAccount): string {
  const { certificate, encryption, codec, server } = account;
  const rate = rateOf(account);
  const host = server.startsWith('[') ? '::1' : '127.0.0.1';
  return [
    ...(certificate === undefined ? [] : [`sip_cafile ${certificate}`, 'sip_verify_server yes']),
    `sip_listen ${host === '::1' ? '[::1]' : host}:0`,
    `net_interface ${host}`,
    'audio_player aufile,heard.wav',
    'audio_source aufile,tone.wav',
    'audio_alert aufile,alert.wav',
    `audio_srate ${rate}`,
    `ausrc_srate ${rate}`,
    `auplay_srate ${rate}`,
    'audio_channels 1',
    `rtp_ports ${rtp.from}-${rtp.to}`,
    `module_path ${modules}`,
    codec === undefined ? 'module g711.so' : `module ${codec.toLowerCase()}.so`,
    ...(codec === 'opus' ? ['opus_stereo no', 'opus_sprop_stereo no'] : []),
    'module aufile.so',
    // Writes what is decoded into `dump-TIME-dec.wav`.
    'module sndfile.so',
    'snd_path .',
    ...(encryption === undefined ? [] : [`module ${encryption === 'dtls_srtp' ? 'dtls_srtp' : 'srtp'}.so`]),
    'module_tmp account.so',
    'module_app menu.so',
    'module_app ctrl_tcp.so',
    `ctrl_tcp_listen 127.0.0.1:${control}`,
    '',
  ].join('\n');
}

function accountLine(account: BaresipAccount): string {
  const { login, domain, password, server, transport, answerMode, registers, encryption } = account;
  const params = [
    `auth_user=${login}`,
    `auth_pass=${password}`,
    `outbound="sip:${server};transport=${transport ?? 'udp'}"`,
    `regint=${registers === false ? 0 : 600}`,
    ...(encryption === undefined ? [] : [`mediaenc=${encryption}`]),
    `audio_codecs=${codecsOf(account)}`,
    `answermode=${answerMode ?? 'manual'}`,
    'dtmfmode=rtpevent',
  ];
  return `<sip:${login}@${domain}>;${params.join(';')}\n`;
}

/** Samples a second of its sound files: those of the codec, between which and the files baresip has no filter. */
function rateOf({ codec }: BaresipAccount): number {
  return codec === undefined ? 8000 : codec === 'opus' ? 48_000 : 16_000;
}

function codecsOf({ codec }: BaresipAccount): string {
  if (codec === undefined) return 'PCMU/8000/1,PCMA/8000/1';
  return codec === 'opus' ? 'opus/48000/2' : 'G722/16000/1';
}

async function connectSoon(port: number): Promise<Socket> {
  for (let attempt = 0; ; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const connected = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    if (connected) return socket;
    socket.destroy();
    if (attempt === 100) throw new Error('baresip does not open its control port');
    await delay(50);
  }
}
