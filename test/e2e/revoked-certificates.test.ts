import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { TestAuthority } from '../support/authority.ts';
import { makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PROVIDERS = '/rest/v1/domain/providers';
const ROUTES = '/rest/v1/domain/routes';

interface Shown {
  readonly reachable: boolean | null;
  readonly last_answer: { readonly reason: string } | null;
}

// drachtio-server does not check certificates of servers.
const made = REAL_SIP ? undefined : makeCertificate();

(made === undefined ? describe.skip : describe)('revoked certificates of providers', () => {
  const folder = temporaryFolder();
  const own: TestCertificate = made ?? { cert: '', key: '' };
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  let listed: TestAuthority;
  let unlisted: TestAuthority;
  const stage = useStage({
    env: async () => {
      listed = new TestAuthority(folder, 'listed');
      unlisted = new TestAuthority(folder, 'unlisted');
      return {
        RINGMASTER_TLS_CERT: file('cert.pem', own.cert),
        RINGMASTER_TLS_KEY: file('key.pem', own.key),
        RINGMASTER_TLS_CA: file('ca.pem', listed.certificate + unlisted.certificate),
        RINGMASTER_TLS_CRL: file('crl.pem', listed.revoked(1)),
        RINGMASTER_SIPS_PORT: String(await freeTcpPort()),
        RINGMASTER_HTTPS_PORT: String(await freeTcpPort()),
      };
    },
  });
  const ends: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  let codes = 0;

  async function make(collection: string, body: object): Promise<string> {
    const rest = await stage.rest();
    const answer = await rest.send('POST', collection, { body });
    expect(answer.status, answer.text).to.equal(200);
    const path = `${collection}/${answer.json<{ id: string }>().id}`;
    ends.push(() => rest.send('DELETE', path));
    return path;
  }

  /** A provider with this certificate, and what the node finds there by OPTIONS. */
  async function found(certificate: TestCertificate): Promise<Shown> {
    const far = await Phone.start({ login: 'far', domain: 'carrier.example', transport: 'tls', certificate });
    ends.push(() => far.stop());
    const rest = await stage.rest();
    const code = `secure${(codes += 1)}`;
    const gateway = { host: 'localhost', port: parseUri(far.contact).port, transport: 'tls' };
    const path = await make(PROVIDERS, { code, ...gateway, opts: { ping: 1 } });
    await make(ROUTES, { to_pattern: '0077%', target: { type: 'provider', code } });
    return eventually(async () => {
      const shown = (await rest.get(path)).json<Shown>();
      expect(shown.reachable).to.be.a('boolean');
      return shown;
    });
  }

  const logged = (pattern: RegExp): Promise<void> =>
    eventually(() => {
      expect(stage.node.output).to.match(pattern);
      return Promise.resolve();
    });

  it('are refused with the reason, others are not, and without a list of their authority none are accepted', async () => {
    const revoked = await found(listed.issue(1));
    expect(revoked.reachable).to.equal(false);
    expect(revoked.last_answer?.reason).to.match(/^tls\/127\.0\.0\.1:\d+: its certificate has been revoked$/);
    const alice = await stage.phone('alice');
    expect((await (await alice.call('0077123456')).refused()).status).to.equal(503);
    await logged(/its certificate has been revoked.*the provider could not be reached/);
    expect((await found(listed.issue(2))).reachable).to.equal(true);
    const unknown = await found(unlisted.issue(3));
    expect(unknown.reachable).to.equal(false);
    expect(unknown.last_answer?.reason).to.match(
      /: the list of the certificates that its authority revoked is missing$/,
    );
  });

  it('are those of the changed file, which is read again; a broken one is logged, and the old one stays', async () => {
    const certificate = listed.issue(4);
    expect((await found(certificate)).reachable).to.equal(true);
    file('crl.pem', listed.revoked(1, 4) + unlisted.revoked());
    await logged(/the changed trust in TLS certificates of providers is in use/);
    expect((await found(certificate)).last_answer?.reason).to.match(/: its certificate has been revoked$/);
    expect((await found(unlisted.issue(5))).reachable).to.equal(true);
    file('crl.pem', 'broken');
    await logged(/RINGMASTER_TLS_CRL: found .* expected lists of revoked .*the old one stays/);
    expect((await found(certificate)).last_answer?.reason).to.match(/: its certificate has been revoked$/);
  });
});
