import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freeTcpPort } from '../../support/ports.ts';

const REFERENCE = fileURLToPath(new URL('./reference-server.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Milliseconds between requests to /healthz: the resolution of `startMs`. */
const LOOK_MS = 5;
const START_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 10_000;

/** A server in a separate process, ready when its /healthz answers 200. */
export class ServerProcess {
  /** `http://127.0.0.1:port` */
  readonly base: string;
  /** Milliseconds from the start of the process to the first healthy answer. */
  readonly startMs: number;
  /** Body of that answer. */
  readonly health: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, base: string, startMs: number, health: string) {
    this.#child = child;
    this.base = base;
    this.startMs = startMs;
    this.health = health;
  }

  /**
   * Starts `node <args>` in the project's folder.
   * @throws Error with the output of the process when it ends, or is not healthy within three minutes
   */
  static async start(args: readonly string[], httpPort: number, env: NodeJS.ProcessEnv): Promise<ServerProcess> {
    const base = `http://127.0.0.1:${httpPort}`;
    const began = performance.now();
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-4096);
      });
    }
    for (;;) {
      const health = await healthy(base);
      const startMs = performance.now() - began;
      if (health !== undefined) return new ServerProcess(child, base, startMs, health);
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (ended || startMs > START_LIMIT_MS) {
        await end(child, 'SIGKILL');
        throw new Error(`${args.join(' ')} did not start\n${output}`);
      }
      await delay(LOOK_MS);
    }
  }

  /** The floor: see reference-server.ts. */
  static async reference(): Promise<ServerProcess> {
    const port = await freeTcpPort();
    return ServerProcess.start([REFERENCE, String(port)], port, process.env);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** `ip:port` of SIP, of a floor with SIP. */
  get sip(): string {
    return (JSON.parse(this.health) as { sip: string }).sip;
  }

  /** SIGTERM, and SIGKILL if that has no effect. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await end(this.#child, 'SIGTERM');
    clearTimeout(timer);
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Body of /healthz; undefined without an answer of 200. */
function healthy(base: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const request = get(`${base}/healthz`, { agent: false }, (response) => {
    let body = '';
    response.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    response.on('end', () => resolve(response.statusCode === 200 ? body : undefined));
    response.on('error', () => resolve(undefined));
  });
  request.on('error', () => resolve(undefined));
  return promise;
}
