/** A private PostgreSQL server from Debian's package, started when the first test asks. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { freeTcpPort } from '../../support/ports.ts';
import { endsWithUs } from '../../support/ends-with-us.ts';

const PACKAGES = '/usr/lib/postgresql';

export interface PostgresServer {
  /** Makes an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Stops all its processes with SIGSTOP. @returns the function that lets them go on */
  pause(): () => void;
}

function binaries(): string | undefined {
  // A run without peers: support/without-peers.mjs.
  if (process.env['RINGMASTER_WITHOUT_PEERS'] === '1' || !existsSync(PACKAGES)) return undefined;
  const versions = readdirSync(PACKAGES).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(PACKAGES, version, 'bin')).find((bin) => existsSync(join(bin, 'postgres')));
}

export function isPostgresInstalled(): boolean {
  return binaries() !== undefined;
}

/** PostgreSQL refuses to run as root. */
function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function ready(server: ChildProcess): Promise<void> {
  if (server.stderr === null) throw new Error('no stderr');
  const seen: string[] = [];
  for await (const line of createInterface({ input: server.stderr })) {
    seen.push(line);
    if (line.includes('ready to accept connections')) {
      server.stderr.resume();
      return;
    }
  }
  throw new Error(`postgres did not start: ${seen.join('\n')}`);
}

let folder: string | undefined;
let server: ChildProcess | undefined;
let starting: Promise<PostgresServer> | undefined;

// At the root of a test run, whichever file asks first. A benchmark stops the server itself.
if ('after' in globalThis) after('stop PostgreSQL', stopPostgresServer);

/** A process and its children. The parent comes first, so that no further child can begin. */
function processesOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

async function start(bin: string): Promise<PostgresServer> {
  const owner = account();
  folder = mkdtempSync(join(tmpdir(), 'ringmaster-postgres-'));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(join(bin, 'initdb'), initdb, { ...owner, cwd: folder, stdio: 'pipe' });
  const port = await freeTcpPort();
  const settings = ['-c', 'fsync=off', '-c', `unix_socket_directories=${folder}`, '-c', 'max_connections=200'];
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), ...settings];
  server = spawn(...endsWithUs(join(bin, 'postgres'), args, 'INT'), {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await ready(server);
  let databases = 0;
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return {
    async createDatabase() {
      const database = `test_${++databases}`;
      const client = new Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query(`create database ${database}`);
      await client.end();
      return url(database);
    },
    pause() {
      const pids = processesOf(server?.pid);
      for (const pid of pids) signal(pid, 'SIGSTOP');
      return () => {
        for (const pid of pids.toReversed()) signal(pid, 'SIGCONT');
      };
    },
  };
}

/** Of the processes of a server, those of connections and the autovacuum may have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The server of the run: it ends with the last test, so no file stops it. Undefined when PostgreSQL is not installed. */
export async function postgresServer(): Promise<PostgresServer | undefined> {
  const bin = binaries();
  if (bin === undefined) return undefined;
  starting ??= start(bin);
  return await starting;
}

/** Ends the server, if one was started; its clients are closed. */
export async function stopPostgresServer(): Promise<void> {
  if (server !== undefined && server.exitCode === null && server.signalCode === null) {
    // At once and without a checkpoint: its data go with it.
    server.kill('SIGQUIT');
    await once(server, 'exit');
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
