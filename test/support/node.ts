import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RestClient } from '../phones/rest-client.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from './ports.ts';
import { REAL_SIP, REAL_SIP_ADDRESS, realServerSettings } from './real-servers.ts';

const COMMAND = fileURLToPath(new URL('../../runtime/cli/ringmaster.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUTPUT_LIMIT = 64 * 1024;

export interface NodeOptions {
  /** Default: a new folder, removed by `remove`. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Uses embedded servers, even when the environment names real ones. */
  readonly embedded?: boolean;
  /** Milliseconds until /healthz must answer 200; the first start creates the database. */
  readonly readyWithinMs?: number;
}

export interface Health {
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** A Ringmaster node as a user starts it: a separate process, configured by its environment. */
export class TestNode {
  readonly base: string;
  /** `127.0.0.1:port`, the registrar and proxy of the phones. */
  readonly sip: string;
  readonly rtpPorts: { readonly from: number; readonly to: number };
  readonly dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #output = '';

  private constructor(fields: Pick<TestNode, 'base' | 'sip' | 'rtpPorts' | 'dataDir'>, env: Record<string, string>) {
    this.base = fields.base;
    this.sip = fields.sip;
    this.rtpPorts = fields.rtpPorts;
    this.dataDir = fields.dataDir;
    this.#env = env;
  }

  /** Chooses free ports and a data folder, starts the node, and waits until calls are possible. */
  static async start(options: NodeOptions = {}): Promise<TestNode> {
    const http = await freeTcpPort();
    const { embedded = false } = options;
    const sip = REAL_SIP && !embedded ? REAL_SIP_ADDRESS : `127.0.0.1:${await freeSipPort()}`;
    const rtpPorts = await freeUdpRange(600);
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'ringmaster-test-')));
    const node = new TestNode(
      { base: `http://127.0.0.1:${http}`, sip, rtpPorts, dataDir },
      {
        RINGMASTER_HTTP_PORT: String(http),
        RINGMASTER_SIP_PORT: sip.split(':')[1] ?? '',
        RINGMASTER_RTP_PORTS: `${rtpPorts.from}-${rtpPorts.to}`,
        RINGMASTER_DATA_DIR: dataDir,
        ...(embedded ? {} : realServerSettings()),
        ...options.env,
      },
    );
    await node.restart(options.readyWithinMs);
    return node;
  }

  /** The end of the node's output. */
  get output(): string {
    return this.#output;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The exit code of the running process, undefined after a signal or without a process. */
  get ended(): Promise<number | undefined> {
    const child = this.#process;
    if (child === undefined) return Promise.resolve(undefined);
    return once(child, 'exit').then(([code]) => (code as number | null) ?? undefined);
  }

  /** Starts the process again with the same ports and data, after `stop` or `kill`. */
  async restart(readyWithinMs = 60_000): Promise<void> {
    if (this.#process !== undefined) throw new Error('the node is running');
    const child = spawn(process.execPath, [COMMAND, 'start'], {
      cwd: ROOT,
      env: { ...withoutSettings(process.env), ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString('utf8')).slice(-OUTPUT_LIMIT);
      });
    }
    // An aborted test run ends its nodes.
    const orphaned = (): boolean => child.kill('SIGKILL');
    process.once('exit', orphaned);
    child.once('exit', () => {
      process.off('exit', orphaned);
      if (this.#process === child) this.#process = undefined;
    });
    try {
      await this.#ready(child, readyWithinMs);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  async health(): Promise<Health> {
    const client = new RestClient(this.base);
    try {
      const answer = await client.get('/healthz');
      if (answer.status !== 200) throw new Error(`/healthz: ${answer.status} ${answer.text}`);
      return answer.json<Health>();
    } finally {
      client.close();
    }
  }

  /** A session of a demo user (password `demo-<login>`). */
  async login(login = 'admin', domain = 'demo.local'): Promise<RestClient> {
    return RestClient.login(this.base, { domain, login, pwd: `demo-${login}` });
  }

  /** SIGTERM, as from a service manager: exit code 0 within `withinMs`, or an error. */
  async stop(withinMs = 10_000): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const end = await Promise.race([exited, delay(withinMs, undefined, { ref: false })]);
    if (end === undefined) {
      await this.kill();
      throw new Error(`the node did not end within ${withinMs} ms of SIGTERM\n${this.#output}`);
    }
    if (end[0] !== 0) throw new Error(`the node ended with ${end[0] ?? end[1]}\n${this.#output}`);
  }

  /** SIGKILL, which leaves no time to write. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Ends the node and removes its data. */
  async remove(): Promise<void> {
    try {
      await this.stop();
    } finally {
      await rm(this.dataDir, { recursive: true, force: true });
    }
  }

  /** `GET /healthz` with status 200 means "calls are possible". */
  async #ready(child: ChildProcess, withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(
          `the node ended with ${child.exitCode ?? child.signalCode} instead of starting\n${this.#output}`,
        );
      }
      const ok = await this.health().then(
        () => true,
        () => false,
      );
      if (ok) return;
      if (Date.now() > deadline) throw new Error(`the node is not ready after ${withinMs} ms\n${this.#output}`);
      await delay(50);
    }
  }
}

/** The tester's own settings must not reach the node under test, nor the service manager that runs the tests. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(RINGMASTER_|DATABASE_URL$|NOTIFY_SOCKET$|INVOCATION_ID$)/.test(name)),
  );
}
