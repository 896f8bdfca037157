import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { signedIdentity, signingKey } from '../../runtime/stir/passport.ts';
import { Phone } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import * as made from '../stir/certificates.ts';
import { CertificateServer } from '../stir/support.ts';
import { followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { useStage } from '../support/stage.ts';

const DOMAIN = '/rest/v1/domain';
const CALLER = '+4940999';

describe('calls with providers whose calls are signed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ringmaster-signed-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const stage = useStage({
    ownNode: true,
    env: {
      NODE_EXTRA_CA_CERTS: file('tls.pem', made.ROOT),
      RINGMASTER_STIR_KEY: file('key.pem', made.SIGNER_KEY),
      RINGMASTER_STIR_CERTIFICATE_URL: 'https://certificates.example/signer.pem',
      RINGMASTER_STIR_ROOTS: file('roots.pem', made.ROOT),
      RINGMASTER_STIR_NETWORKS: '127.0.0.1',
    },
  });
  let server: CertificateServer;
  let carrier: Phone;

  before(async () => {
    server = await CertificateServer.start();
    carrier = await Phone.start({ login: CALLER, domain: 'carrier.example', registrar: stage.node.sip });
    const { host, port } = parseUri(carrier.contact);
    const settings = {
      identity: { sign: true, verify: true },
      numbering: { country: '49' },
      mapping: {
        callerid: [{ pattern: '1%', strip: 0, prepend: '+49308' }],
        inbound: [{ pattern: '+49308%', strip: 6, prepend: '' }],
      },
    };
    const rest = await stage.rest();
    for (const [collection, body] of [
      ['providers', { code: 'signed', host, port, ...settings }],
      ['routes', { to_pattern: '00%', target: { type: 'provider', code: 'signed' } }],
    ] as const)
      expect((await rest.send('POST', `${DOMAIN}/${collection}`, { body })).status).to.equal(200);
  });

  after(async () => {
    await carrier.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('go out with a PASSporT that attests the own number of a phone', async () => {
    const alice = await stage.phone('alice');
    const outgoing = await alice.call('004930123456');
    const incoming = await carrier.incoming();
    const identity = header(incoming.invite, 'identity') ?? '';
    expect(identity).to.match(/;info=<https:\/\/certificates\.example\/signer\.pem>;alg=ES256;ppt=shaken$/);
    const claims = JSON.parse(Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).to.deep.include({ attest: 'A', orig: { tn: '49308101' }, dest: { tn: ['4930123456'] } });
    expect(header(incoming.invite, 'date')).to.match(/ GMT$/);
    incoming.reject(486);
    await outgoing.refused();
  });

  for (const [what, orig, verstat, attestation] of [
    ['a good', '4940999', 'TN-Validation-Passed', 'B'],
    ["another caller's", '4940111', 'TN-Validation-Failed', null],
    ['no', undefined, 'No-TN-Validation', null],
  ] as const) {
    it(`come in with ${what} signature: the phone, the history and the event say ${verstat}`, async () => {
      const x5u = server.put('/signer.pem', made.SIGNER);
      const claims = { orig: orig ?? '', dest: '49308102', attest: 'B', iat: Math.floor(Date.now() / 1000) } as const;
      const value = await signedIdentity(await signingKey(made.SIGNER_KEY), x5u, claims);
      const bob = await stage.phone('bob');
      // Beside one of another kind.
      const headers = [value.replace('ppt=shaken', 'ppt=div'), value].map((each) => ({
        name: 'Identity',
        value: each,
      }));
      const events = await followEvents<{ verstat: string; attestation?: string }>(stage, 'callevents.call_init');
      const outgoing = await carrier.call('sip:+49308102@demo.local', orig === undefined ? {} : { headers });
      const incoming = await bob.incoming();
      expect(header(incoming.invite, 'p-asserted-identity')).to.equal(`<sip:${CALLER};verstat=${verstat}@demo.local>`);
      incoming.reject(486);
      await outgoing.refused();
      await eventually(() => {
        expect(events.seen).to.have.length(1);
        return Promise.resolve();
      });
      expect(events.seen[0]).to.include({ verstat, ...(attestation !== null && { attestation }) });
      events.close();
      await eventually(async () => {
        const query = { order: '[{"ts":"desc"}]', limit: '1', mask: 'caller_number,verstat,attestation' };
        const [record] = (await (await stage.rest()).get('/rest/v1/uc/history', query)).json<readonly object[]>();
        expect(record).to.deep.equal({ caller_number: CALLER, verstat, attestation });
      });
    });
  }

  it('keep the signature of the caller when a scenario passes them on, with a diversion by this node (RFC 8946)', async () => {
    const rest = await stage.rest();
    const source = 'id: on\nstart: ring\nblocks:\n  ring: { refer: { to: "004930123456" }, exits: { refused: end } }\n';
    for (const [collection, body] of [
      ['ivrscripts', { code: 'on', name: 'on', scriptdata: { format: 'yaml', source } }],
      ['routes', { to_pattern: '578', target: { type: 'scenario', code: 'on' } }],
    ] as const)
      expect((await rest.send('POST', `${DOMAIN}/${collection}`, { body })).status).to.equal(200);
    const x5u = server.put('/signer.pem', made.SIGNER);
    const claims = { orig: '4940999', dest: '49308578', attest: 'B', iat: Math.floor(Date.now() / 1000) } as const;
    const value = await signedIdentity(await signingKey(made.SIGNER_KEY), x5u, claims);
    const outgoing = await carrier.call('sip:+49308578@demo.local', { headers: [{ name: 'Identity', value }] });
    const forwarded = await carrier.incoming();
    const values = forwarded.invite.headers.filter(({ name }) => name.toLowerCase() === 'identity');
    expect(values).to.have.length(2);
    expect(values[0]?.value).to.equal(value);
    const diversion = JSON.parse(Buffer.from(values[1]?.value.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(diversion).to.deep.include({
      orig: { tn: '4940999' },
      div: { tn: '49308578' },
      dest: { tn: ['4930123456'] },
    });
    forwarded.reject(486);
    await outgoing.refused();
  });

  it('need usable files: a start with others names the setting', async () => {
    const env = { RINGMASTER_STIR_ROOTS: file('no.pem', 'hello') };
    const failure = await TestNode.start({ env }).then(
      async (node) => {
        await node.remove();
        return 'started';
      },
      (error: unknown) => String(error),
    );
    expect(failure).to.match(/RINGMASTER_STIR_ROOTS: found ".*no\.pem: there is no certificate/);
  });
});
