import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestCertificate } from './certificate.ts';

const KEY = 'ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');
const CONFIG = `[ca]
default_ca = x
[x]
database = index.txt
default_md = sha256
`;

/** An authority that certifies this machine and revokes again; needs openssl. */
export class TestAuthority {
  readonly #folder: string;
  readonly #name: string;

  /** @param name file name of its files, and its common name */
  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    const uses = ['-addext', 'basicConstraints=critical,CA:true', '-addext', 'keyUsage=keyCertSign,cRLSign'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
    this.#openssl('req', '-x509', '-newkey', ...KEY, '-subj', `/CN=${name}`, '-days', '9', ...uses, ...files);
  }

  /** PEM. */
  get certificate(): string {
    return this.#openssl('x509', '-in', `${this.#name}.pem`);
  }

  issue(serial: number): TestCertificate {
    const key = this.#openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256');
    const file = `${this.#name}-${serial}.key`;
    writeFileSync(join(this.#folder, file), key);
    const request = this.#openssl('req', '-new', '-key', file, '-subj', '/CN=x');
    writeFileSync(join(this.#folder, 'request.pem'), request);
    writeFileSync(join(this.#folder, 'names.txt'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
    const by = ['-CA', `${this.#name}.pem`, '-CAkey', `${this.#name}.key`, '-set_serial', String(serial)];
    const more = ['-days', '2', '-extfile', 'names.txt'];
    return { key, cert: this.#openssl('x509', '-req', '-in', 'request.pem', ...by, ...more) };
  }

  /** The list of the certificates that it has revoked, PEM. */
  revoked(...serials: readonly number[]): string {
    const lines = serials.map((serial) => `R\t300101000000Z\t250101000000Z\t0${serial}\tunknown\t/CN=x\n`);
    writeFileSync(join(this.#folder, 'index.txt'), lines.join(''));
    writeFileSync(join(this.#folder, 'ca.cnf'), CONFIG);
    const by = ['-cert', `${this.#name}.pem`, '-keyfile', `${this.#name}.key`];
    return this.#openssl('ca', '-config', 'ca.cnf', '-gencrl', '-crldays', '2', ...by);
  }

  #openssl(...args: readonly string[]): string {
    const { status, stdout, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8', cwd: this.#folder });
    if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`, { cause: error });
    return stdout;
  }
}
