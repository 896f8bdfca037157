import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { render } from '../../freeswitch-config/render.ts';
import { Command } from '../cli/command.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from './ports.ts';

/**
 * Servers in separate processes, which can be killed and restarted at the same addresses: embedded ones, or real ones when
 * RINGMASTER_TEST_DRACHTIO and RINGMASTER_TEST_FREESWITCH name the programs.
 */
export interface ServerProgram {
  /** In the form of RINGMASTER_DRACHTIO or RINGMASTER_FREESWITCH. */
  readonly setting: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface SipServerProgram extends ServerProgram {
  /** Address for phones: `ip:port`. */
  readonly address: string;
}

export interface MediaServerProgram extends ServerProgram {
  readonly rtp: { readonly from: number; readonly to: number };
  /** Stops the process until `goOn`; its connections stay open. */
  pause(): void;
  goOn(): void;
}

const HOST = '127.0.0.1';
const SECRET = 'several';
const RTP_PORTS = 100;
/** Milliseconds until a server must accept connections, and until it must have ended. */
const PATIENCE_MS = 15_000;

export async function sipServerProgram(): Promise<SipServerProgram> {
  const [app, sip] = [await freeTcpPort(), await freeSipPort()];
  const setting = `${HOST}:${app}:${SECRET}`;
  const program = process.env['RINGMASTER_TEST_DRACHTIO'];
  const server =
    program === undefined
      ? new EmbeddedProgram(`--app ${HOST}:${app} --secret ${SECRET} --sip ${HOST}:${sip}`)
      : new RealProgram(program, app, { app, sip }, (folder) => ['-f', join(folder, 'drachtio.conf.xml')]);
  return { setting, address: `${HOST}:${sip}`, start: () => server.start(), stop: () => server.stop() };
}

export async function mediaServerProgram(): Promise<MediaServerProgram> {
  const [socket, sip, rtp] = [await freeTcpPort(), await freeSipPort(), await freeUdpRange(RTP_PORTS)];
  const setting = `${HOST}:${socket}:${SECRET}`;
  const program = process.env['RINGMASTER_TEST_FREESWITCH'];
  const server =
    program === undefined
      ? new EmbeddedProgram(
          `--event-socket ${HOST}:${socket} --password ${SECRET} --media ${HOST}:${sip} --rtp-ports ${rtp.from}-${rtp.to}`,
        )
      : new RealProgram(program, socket, { socket, media: sip, rtp }, freeswitchArguments);
  return {
    setting,
    rtp,
    start: () => server.start(),
    stop: () => server.stop(),
    pause: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
  };
}

/**
 * The output of FreeSWITCH, configured from `freeswitch-config/` with an empty database, from its start to its end.
 * @param program path of FreeSWITCH
 * @param console `on` without the option -nc, `off` as documented
 * @throws Error when its start or end takes more than 15 s
 */
export async function freeSwitchConsole(program: string, console: 'on' | 'off'): Promise<string> {
  const [socket, sip, rtp] = [await freeTcpPort(), await freeSipPort(), await freeUdpRange(RTP_PORTS)];
  const server = new RealProgram(program, socket, { socket, media: sip, rtp }, (folder) =>
    freeswitchArguments(folder).filter((argument) => console === 'off' || argument !== '-nc'),
  );
  await server.start();
  return server.end();
}

function freeswitchArguments(folder: string): string[] {
  const inside = (name: string) => join(folder, name);
  for (const name of ['db', 'run']) mkdirSync(inside(name), { recursive: true });
  const folders = ['log', 'db', 'run', 'sounds', 'recordings'].flatMap((name) => [`-${name}`, inside(name)]);
  return ['-np', '-nonat', '-nf', '-nc', '-conf', folder, ...folders];
}

class EmbeddedProgram {
  readonly #arguments: string;
  #process: Command | undefined;

  constructor(args: string) {
    this.#arguments = args;
  }

  async start(): Promise<void> {
    this.#process = await Command.run(['embedded', ...this.#arguments.split(' ')]);
    await this.#process.printed(/^ready$/m);
  }

  async stop(): Promise<void> {
    await this.#process?.terminate();
    this.#process = undefined;
  }

  signal(signal: NodeJS.Signals): void {
    signalTo(this.#process?.pid, signal);
  }
}

interface Ports {
  readonly app?: number;
  readonly sip?: number;
  readonly socket?: number;
  readonly media?: number;
  readonly rtp?: { readonly from: number; readonly to: number };
}

/** A program with the configuration in `freeswitch-config/`, ended with SIGKILL like on a failing machine. */
class RealProgram {
  readonly #program: string;
  readonly #port: number;
  readonly #ports: Ports;
  readonly #arguments: (folder: string) => string[];
  #process: ChildProcess | undefined;
  #printed = '';
  #folder: string | undefined;

  /** @param port that accepts connections once it is ready */
  constructor(program: string, port: number, ports: Ports, args: (folder: string) => string[]) {
    this.#program = program;
    this.#port = port;
    this.#ports = ports;
    this.#arguments = args;
  }

  async start(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'ringmaster-server-'));
    this.#folder = folder;
    this.#render(folder);
    // Its input stays open, as the console of FreeSWITCH reads commands from it.
    const child = spawn(this.#program, this.#arguments(folder), { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process = child;
    this.#printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#printed += text));
    process.once('exit', () => child.kill('SIGKILL'));
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await answers(this.#port))) {
      if (Date.now() > deadline || child.exitCode !== null)
        throw new Error(`${this.#program} does not start: ${this.#printed}`);
      await delay(50);
    }
  }

  /**
   * Ends it like an operator.
   * @returns its output
   */
  async end(): Promise<string> {
    const child = this.#process;
    if (child === undefined) throw new Error(`${this.#program} does not run`);
    try {
      const closed = once(child, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
      child.kill('SIGTERM');
      await closed;
      return this.#printed;
    } finally {
      await this.stop();
    }
  }

  signal(signal: NodeJS.Signals): void {
    signalTo(this.#process?.pid, signal);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #render(folder: string): void {
    const { app = 1, sip = 1, socket = 1, media = 1, rtp = { from: 10_000, to: 10_000 + RTP_PORTS - 1 } } = this.#ports;
    render(
      {
        calls: 20,
        callsPerSecond: 50,
        node: HOST,
        sip: { address: HOST, port: sip, others: [], callRecords: false },
        media: { sipPort: media, advertisedAddress: undefined, rtp: { first: rtp.from, last: rtp.to } },
        folders: { sounds: 'sounds', recordings: 'recordings', logs: 'log' },
      },
      {
        drachtio: { host: HOST, port: app, secret: SECRET },
        freeswitch: { host: HOST, port: socket, secret: SECRET },
      },
      folder,
    );
  }
}

function signalTo(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error('the server does not run');
  process.kill(pid, signal);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, HOST);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
