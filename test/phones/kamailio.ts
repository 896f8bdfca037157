/** A Kamailio as edge proxy or as carrier. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { endsWithUs } from '../support/ends-with-us.ts';

/** Debian installs it where users do not look. */
process.env['PATH'] = `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin`;

const MODULES = ['tm', 'sl', 'rr', 'pv', 'maxfwd', 'textops', 'siputils', 'xlog', 'kex', 'corex', 'tls', 'usrloc'];

export interface KamailioOptions {
  /** For its port for TLS. */
  readonly certificate: TestCertificate;
  /** Modules beside the usual ones. */
  readonly modules?: readonly string[];
  /** `modparam` lines and routes; `PORT` and `TLS_PORT` are its own. */
  readonly routes: string;
}

/** A Kamailio process on 127.0.0.1: UDP and TCP at `port`, TLS at `tlsPort`. */
export class Kamailio {
  readonly port: number;
  readonly tlsPort: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #output: string[] = [];

  private constructor(child: ChildProcess, folder: string, port: number, tlsPort: number) {
    this.#child = child;
    this.#folder = folder;
    this.port = port;
    this.tlsPort = tlsPort;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => void this.#output.push(data.toString()));
  }

  static async start(program: string, { certificate, modules = [], routes }: KamailioOptions): Promise<Kamailio> {
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-kamailio-'));
    const [port, tlsPort] = [await freeTcpPort(), await freeTcpPort()];
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await writeFile(cert, certificate.cert);
    await writeFile(key, certificate.key);
    const config = [
      '#!KAMAILIO',
      'debug=1',
      'log_stderror=yes',
      'children=1',
      'tcp_children=1',
      'auto_aliases=no',
      'dns=no',
      'rev_dns=no',
      'enable_tls=yes',
      `listen=udp:127.0.0.1:${port}`,
      `listen=tcp:127.0.0.1:${port}`,
      `listen=tls:127.0.0.1:${tlsPort}`,
      ...[...MODULES, ...modules].map((name) => `loadmodule "${name}.so"`),
      `modparam("tls", "certificate", "${cert}")`,
      `modparam("tls", "private_key", "${key}")`,
      'modparam("tls", "tls_method", "TLSv1.2+")',
      routes.replaceAll('TLS_PORT', String(tlsPort)).replaceAll('PORT', String(port)),
      '',
    ];
    const file = join(folder, 'kamailio.cfg');
    await writeFile(file, config.join('\n'));
    const args = ['-f', file, '-DD', '-E', '-m', '32', '-M', '4', '-w', folder, '-Y', folder];
    // A process group of its own: it forks workers.
    const child = spawn(...endsWithUs(program, args, 'TERM'), {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kamailio = new Kamailio(child, folder, port, tlsPort);
    try {
      const listens = eventually(async () => {
        const socket = connect(tlsPort, '127.0.0.1');
        await once(socket, 'connect');
        socket.destroy();
      }, 20_000);
      listens.catch(() => undefined);
      const ended = once(child, 'exit').then(() => Promise.reject(new Error('kamailio ended')));
      ended.catch(() => undefined);
      await Promise.race([listens, ended]);
    } catch (error) {
      await kamailio.stop();
      throw new Error(kamailio.output, { cause: error });
    }
    return kamailio;
  }

  /** What it has logged. */
  get output(): string {
    return this.#output.join('');
  }

  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (this.#child.exitCode === null && this.#child.signalCode === null && pid !== undefined) {
      const ended = once(this.#child, 'exit');
      process.kill(-pid, 'SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
