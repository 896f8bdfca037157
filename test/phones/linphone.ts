import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { freeSipPort, freeUdpRange } from '../support/ports.ts';
import { endsWithTone } from './media/end-of-file.ts';
import { toneFile } from './media/tone-file.ts';

export interface LinphoneAccount {
  readonly login: string;
  readonly domain: string;
  readonly password: string;
  /** `ip:port` of the server; requests go there first. */
  readonly server: string;
  readonly transport: 'udp' | 'tcp' | 'tls';
  /** File with the server's certificate, for TLS. */
  readonly certificate?: string;
  /** How it encrypts its sound, which it then demands: keys by SDES, or by DTLS. */
  readonly encryption?: 'srtp' | 'dtls';
  /** Frequency of the tone it sends. */
  readonly tone: number;
}

/** Format of what it records in a call with Opus. */
const HEARD = { channels: 1, rate: 48_000 } as const;

/** A linphonec process, driven like by a person: commands in, printed text out. It has no sound card. */
export class Linphone {
  readonly #child: ChildProcess;
  readonly #folder: string;
  /** File of the sound that it has decoded. */
  readonly #heard: string;
  readonly #watchers = new Set<() => void>();
  #output = '';
  /** Position in the output up to which it was awaited. */
  #read = 0;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#heard = join(folder, 'heard.wav');
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        for (const watcher of this.#watchers) watcher();
      });
    }
  }

  /** Starts it with one account, which registers at once. */
  static async start(program: string, account: LinphoneAccount): Promise<Linphone> {
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-linphone-'));
    for (const path of ['.local/share/linphone', '.config/linphone'])
      await mkdir(join(folder, path), { recursive: true });
    const { from: rtp } = await freeUdpRange(2);
    await writeFile(join(folder, 'linphonerc'), settings(account, await freeSipPort(), rtp));
    await writeFile(join(folder, 'tone.wav'), toneFile(account.tone, 60));
    const child = spawn(program, ['-c', join(folder, 'linphonerc'), '-d', '0'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const linphone = new Linphone(child, folder);
    try {
      await linphone.printed(/linphonec> /);
      linphone.command('soundcard use files');
      await linphone.printed(/Using wav files/);
      return linphone;
    } catch (error) {
      await linphone.stop();
      throw error;
    }
  }

  /** Types a command. */
  command(text: string): void {
    this.#child.stdin?.write(`${text}\n`);
  }

  /** Waits until its account is registered. */
  async registered(withinMs = 10_000): Promise<void> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      this.command('status register');
      if ((await this.printed(/registered(, identity|=)/))[1] === ', identity') return;
      if (Date.now() > deadline) throw new Error(`linphone is not registered\n${this.#output}`);
      await delay(250);
    }
  }

  /** Waits for output after the last awaited one. */
  async printed(pattern: RegExp, withinMs = 10_000): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const match = pattern.exec(this.#output.slice(this.#read));
      if (match === null) return;
      this.#read += match.index + match[0].length;
      resolve(match);
    };
    const timer = setTimeout(() => {
      reject(new Error(`linphone did not print ${pattern} within ${withinMs} ms\n${this.#output}`));
    }, withinMs);
    this.#watchers.add(look);
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#watchers.delete(look);
    }
  }

  /** Calls, and waits until media can flow. */
  async call(uri: string): Promise<void> {
    this.command(`call ${uri}`);
    await this.talking();
  }

  /** Waits until media can flow, and plays its tone. */
  async talking(): Promise<void> {
    await this.printed(/Media streams established/);
    this.command(`play ${join(this.#folder, 'tone.wav')}`);
    this.command(`record ${this.#heard}`);
  }

  /** Waits until its user hears this tone: it is in the last 200 ms of the sound that linphone has decoded from Opus. */
  async hears(frequency: number, withinMs = 15_000): Promise<void> {
    await eventually(async () => {
      const file = await readFile(this.#heard);
      if (!endsWithTone(file, frequency, HEARD)) throw new Error(`linphone does not hear ${frequency} Hz`);
    }, withinMs);
  }

  async answer(): Promise<void> {
    await this.printed(/Receiving new incoming call/);
    this.command('answer');
    await this.talking();
  }

  async hangup(): Promise<void> {
    this.command('terminate');
    await this.ended();
  }

  /** Waits until its call is over, ended by either side. */
  async ended(): Promise<void> {
    await this.printed(/Call \d+ with .* ended/);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.command('quit');
      const ended = await Promise.race([exited, delay(5000, undefined, { ref: false })]);
      if (ended === undefined) {
        this.#child.kill('SIGKILL');
        await exited;
      }
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function settings(account: LinphoneAccount, sip: number, rtp: number): string {
  const { login, domain, password, server, transport, certificate, encryption } = account;
  const proxy = `<sip:${server};transport=${transport}>`;
  return [
    '[sip]',
    `sip_port=${transport === 'udp' ? sip : 0}`,
    `sip_tcp_port=${transport === 'tcp' ? sip : 0}`,
    `sip_tls_port=${transport === 'tls' ? sip : 0}`,
    ...(certificate === undefined ? [] : [`root_ca=${certificate}`]),
    ...(encryption === undefined ? [] : [`media_encryption=${encryption}`, 'media_encryption_mandatory=1']),
    'default_proxy=0',
    'use_ipv6=0',
    // linphonec ignores loopback interfaces.
    'auto_net_state_mon=0',
    'register_only_when_network_is_up=0',
    '[rtp]',
    `audio_rtp_port=${rtp}`,
    '[video]',
    'enabled=0',
    'automatically_initiate=0',
    'automatically_accept=0',
    '[proxy_0]',
    `reg_proxy=${proxy}`,
    `reg_route=${proxy}`,
    `reg_identity=sip:${login}@${domain}`,
    'reg_expires=300',
    'reg_sendregister=1',
    'publish=0',
    '[auth_info_0]',
    `username=${login}`,
    `passwd=${password}`,
    `realm=${domain}`,
    `domain=${domain}`,
    '',
  ].join('\n');
}
