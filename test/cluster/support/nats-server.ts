/** A real nats-server with JetStream, from Debian's package. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { requirePeer } from '../../phones/peers.ts';
import { freeTcpPort } from '../../support/ports.ts';
import { endsWithUs } from '../../support/ends-with-us.ts';

const PATIENCE_MS = 15_000;

/** A server that can be stopped and started again with what it stored. */
export class NatsServer {
  readonly port: number;
  readonly #folder: string;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
  }

  /** @param options of its command line, such as `--user` */
  static async start(options: readonly string[] = []): Promise<NatsServer> {
    const server = await NatsServer.make(options);
    await server.start();
    return server;
  }

  /** One that does not run yet. */
  static async make(options: readonly string[]): Promise<NatsServer> {
    return new NatsServer(await freeTcpPort(), await mkdtemp(join(tmpdir(), 'ringmaster-nats-')), options);
  }

  /** As in RINGMASTER_CLUSTER. */
  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    const args = ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.#folder, ...this.#options];
    const child = spawn(...endsWithUs('nats-server', args, 'TERM'), { stdio: 'ignore' });
    this.#process = child;
    const kill = (): unknown => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await answers(this.port))) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error('nats-server does not start');
      await delay(20);
    }
  }

  /** It keeps its connections, and is silent from now on. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Skips the test where nats-server is not installed. */
export function requireNats(context: Mocha.Context): void {
  requirePeer(context, 'nats-server');
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
