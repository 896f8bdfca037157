/** A reader's machine: a folder that stands for `/`, with the project in `/opt/ringmaster`, as the Dockerfile puts it there. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../../support/ports.ts';
import { Terminal } from './terminal.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NOBODY = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] as const;

export interface Machine {
  readonly folder: string;
  readonly base: string;
  /** `127.0.0.1:port`. */
  readonly sip: string;
  readonly terminal: Terminal;
  remove(): Promise<void>;
}

interface MachineOptions {
  /** The data directory is set for all commands, as there is no file with settings. */
  readonly demo?: true;
  /** Further variables of the terminal and the node. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further texts of the pages that are others here. */
  readonly rules?: readonly (readonly [string | RegExp, string])[];
}

export async function machineOf({ demo, env = {}, rules = [] }: MachineOptions = {}): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'ringmaster-docs-'));
  chmodSync(folder, 0o755);
  for (const name of ['etc/systemd/system', 'usr/local/sbin', 'var/lib', 'var/backups', 'home'])
    mkdirSync(join(folder, name), { recursive: true });
  putProject(join(folder, 'opt/ringmaster'));
  cpSync(join(import.meta.dirname, 'runuser.bash'), join(folder, 'usr/local/sbin/runuser'));
  chmodSync(join(folder, 'usr/local/sbin/runuser'), 0o755);
  const [http, sip, rtp] = [await freeTcpPort(), await freeSipPort(), await freeUdpRange(200)];
  const base = `http://127.0.0.1:${http}`;
  const terminal = new Terminal({
    machine: folder,
    cwd: join(folder, 'opt/ringmaster'),
    env: {
      PATH: ownPath(),
      HOME: join(folder, 'home'),
      LC_ALL: 'C.UTF-8',
      // npm asks no registry.
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      MACHINE: folder,
      BASE: base,
      AS_RINGMASTER: otherUser(),
      RINGMASTER_HTTP_PORT: String(http),
      RINGMASTER_SIP_PORT: String(sip),
      RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`,
      ...(demo === undefined ? {} : { RINGMASTER_DATA_DIR: join(folder, 'var/lib/ringmaster') }),
      ...env,
    },
    rules: [
      ...rules,
      ['http://127.0.0.1:8080', base],
      ['127.0.0.1:5060', `127.0.0.1:${sip}`],
      [':5060', `:${sip}`],
      ['192.0.2.10', '127.0.0.1'],
      [/(?<![\w.}/-])\/(?=(?:opt|etc|var|tmp|usr\/local\/sbin)\/)/g, `${folder}/`],
    ],
  });
  return {
    folder,
    base,
    sip: `127.0.0.1:${sip}`,
    terminal,
    async remove() {
      await terminal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the Dockerfile copies, and the packages by a link. */
export function putProject(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [source, target] of copies()) cpSync(join(ROOT, source), join(folder, target), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Source and target of what the Dockerfile copies from the project into the image. */
export function copies(): readonly (readonly [source: string, target: string])[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\nFROM ')[2] ?? '';
  return [...lines.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)].flatMap(([, sources = '', target = '']) =>
    sources.split(' ').map((source) => [source, target === './' ? source : target] as const),
  );
}

/** The PATH without the project's own programs: readers have a Node.js of their own. */
export function ownPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const hasNode = folders.some((folder) => existsSync(join(folder, 'node')));
  return [...folders, ...(hasNode ? [] : [join(ROOT, 'node_modules/.bin')])].join(delimiter);
}

/** Runs a program as `nobody`, where this user may do that and `nobody` can read the project; else empty. */
export function otherUser(): string {
  if (process.getuid?.() !== 0) return '';
  const [program, ...options] = NOBODY;
  try {
    const env = { ...process.env, PATH: ownPath() };
    execFileSync(program, [...options, 'node', '-e', `require('fs').readFileSync('${ROOT}/package.json')`], { env });
    return NOBODY.join(' ');
  } catch {
    return '';
  }
}
