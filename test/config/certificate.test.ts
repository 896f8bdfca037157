import { expect } from 'chai';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { type LiveCertificate, openCertificate } from '../../runtime/node/certificate.ts';
import { EXPIRED_CERTIFICATE, makeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('the TLS certificate of a node', () => {
  const folder = temporaryFolder({ each: true });
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem'), sipPort: 0, httpPort: 0 };
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  let live: LiveCertificate | undefined;

  const open = async (cert: string, key: string): Promise<LiveCertificate> => {
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key);
    live = await openCertificate(files, log);
    return live;
  };

  const refusal = async (cert: string, key: string): Promise<string> =>
    open(cert, key).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  afterEach(() => {
    live?.close();
    live = undefined;
    lines.length = 0;
  });

  it('is refused with the name of the setting when it is expired, foreign to its key, unreadable, or no certificate', async function () {
    const one = makeCertificate();
    const other = makeCertificate();
    if (one === undefined || other === undefined) {
      this.skip();
      return;
    }
    expect(await refusal(EXPIRED_CERTIFICATE.cert, EXPIRED_CERTIFICATE.key)).to.match(
      /^RINGMASTER_TLS_CERT: found ".*cert\.pem", expected a valid certificate; it expired at 2020-02-01/,
    );
    expect(await refusal(one.cert, other.key)).to.match(
      /^RINGMASTER_TLS_KEY: found ".*key\.pem", expected the key of the certificate in .*; it does not fit/,
    );
    expect(await refusal('nonsense', one.key)).to.match(/^RINGMASTER_TLS_CERT: .* a certificate in PEM/);
    expect(await refusal(one.cert, 'nonsense')).to.match(/^RINGMASTER_TLS_KEY: .* a key in PEM/);
    await rm(files.keyFile);
    const missing = await openCertificate(files, log).catch((error: Error) => error.message);
    expect(missing).to.match(/^RINGMASTER_TLS_KEY: .* a readable file \(ENOENT/);
  });

  it('is replaced when its files change, and a changed one that cannot be used is logged and not taken', async function () {
    this.timeout(30_000);
    const one = makeCertificate();
    const other = makeCertificate();
    if (one === undefined || other === undefined) {
      this.skip();
      return;
    }
    const { certFile, keyFile } = files;
    const used = await open(one.cert, one.key);
    const changes: string[] = [];
    used.onChange(({ cert }) => changes.push(cert));
    await writeFile(certFile, EXPIRED_CERTIFICATE.cert);
    await eventually(async () => expect(lines.join('')).to.match(/the old one stays/));
    expect(lines.join('')).to.match(/RINGMASTER_TLS_CERT: .*expired at 2020/);
    expect(used.current.cert).to.equal(one.cert);
    await writeFile(certFile, other.cert);
    await writeFile(keyFile, other.key);
    await eventually(async () => expect(changes).to.deep.equal([other.cert]));
    expect(used.current).to.deep.equal(other);
  });
});
