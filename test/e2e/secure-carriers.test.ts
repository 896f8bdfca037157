import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Challenger } from '../phones/challenger.ts';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import { EXPIRED_CERTIFICATE, makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_MEDIA, REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectTalk } from './expectations.ts';

const PROVIDERS = '/rest/v1/domain/providers';
const ROUTES = '/rest/v1/domain/routes';
const OUTSIDE = '0077123456';
const ACCOUNT = { realm: 'carrier.example', username: 'acme', password: 'secret' };
const SUITE = 'AES_CM_128_HMAC_SHA1_80';

interface Shown {
  readonly port: number;
  readonly state: string;
  readonly reachable: boolean | null;
  readonly last_answer: { readonly reason: string } | null;
  readonly gateway_states: readonly {
    readonly gateway: string;
    readonly reachable: boolean | null;
    readonly last_answer: { readonly reason: string } | null;
  }[];
}

// drachtio-server has a configuration of its own for TLS, and does not check certificates of servers.
const made = REAL_SIP ? undefined : makeCertificate();

(made === undefined ? describe.skip : describe)('providers over TLS', () => {
  const folder = temporaryFolder();
  const good: TestCertificate = made ?? { cert: '', key: '' };
  const other = made === undefined ? good : (makeCertificate('DNS:other.example') ?? good);
  const unknown = made === undefined ? good : (makeCertificate() ?? good);
  let sipsPort = 0;
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const stage = useStage({
    env: async () => {
      sipsPort = await freeTcpPort();
      return {
        RINGMASTER_TLS_CERT: file('cert.pem', good.cert),
        RINGMASTER_TLS_KEY: file('key.pem', good.key),
        RINGMASTER_TLS_CA: file('ca.pem', good.cert + other.cert + EXPIRED_CERTIFICATE.cert),
        RINGMASTER_SIPS_PORT: String(sipsPort),
        RINGMASTER_HTTPS_PORT: String(await freeTcpPort()),
      };
    },
  });
  const entities: string[] = [];
  const carriers: Phone[] = [];

  afterEach(async () => {
    const admin = await stage.rest();
    for (const path of entities.splice(0).toReversed()) expect((await admin.send('DELETE', path)).status).to.equal(204);
    for (const one of carriers.splice(0)) await one.stop();
  });

  async function carrier(certificate: TestCertificate, options: Partial<PhoneOptions> = {}): Promise<Phone> {
    const phone = await Phone.start({
      login: OUTSIDE,
      domain: 'carrier.example',
      transport: 'tls',
      certificate,
      registrar: `127.0.0.1:${sipsPort}`,
      ...options,
    });
    carriers.push(phone);
    return phone;
  }

  const portOf = ({ contact }: Phone): number => parseUri(contact).port ?? 0;

  async function make(collection: string, body: object): Promise<string> {
    const answer = await (await stage.rest()).send('POST', collection, { body });
    expect(answer.status, answer.text).to.equal(200);
    const path = `${collection}/${answer.json<{ id: string }>().id}`;
    entities.push(path);
    return path;
  }

  async function provider(settings: object): Promise<string> {
    const path = await make(PROVIDERS, { code: 'secure', host: 'localhost', ...settings });
    await make(ROUTES, { to_pattern: '0077%', target: { type: 'provider', code: 'secure' } });
    await make(ROUTES, { to_pattern: '+4930102', target: { type: 'provider', code: 'secure' } });
    return path;
  }

  const shown = async (path: string): Promise<Shown> => (await (await stage.rest()).get(path)).json<Shown>();

  for (const [transport, scheme] of [
    ['tls', 'sip'],
    ['sips', 'sips'],
  ] as const) {
    it(`carry encrypted calls both ways (transport ${transport})`, async function () {
      if (REAL_MEDIA) this.skip();
      const far = await carrier(good, { srtp: SUITE });
      const mapping = { inbound: [{ pattern: '+4930%', strip: 5, prepend: '' }] };
      await provider({ transport, port: portOf(far), opts: { srtp: 'required' }, mapping, numbers: ['+4930%'] });
      const alice = await stage.phone('alice');
      const outgoing = await alice.call(OUTSIDE);
      const incoming = await far.incoming();
      expect(incoming.invite.uri).to.match(new RegExp(`^${scheme}:${OUTSIDE}@localhost:`));
      expect(header(incoming.invite, 'via')).to.match(/^SIP\/2\.0\/TLS /);
      expect(header(incoming.invite, 'contact')).to.match(new RegExp(`<${scheme}:.*:${sipsPort}`));
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      await incoming.hangup();
      await outgoing.ended();

      const called = await far.call('sip:+4930101@demo.local');
      const ringing = await alice.incoming();
      await ringing.answer();
      await called.answered();
      await expectTalk(called, ringing);
      await ringing.hangup();
      await called.ended();

      // Without keys the call is refused.
      const plain = await carrier(good);
      const refused = await plain.call('sip:+4930101@demo.local');
      expect((await refused.refused()).status).to.equal(488);
    });
  }

  it('are left for the next gateway with the reason: an unknown authority, an expired certificate, another name', async () => {
    const bad = [await carrier(unknown), await carrier(EXPIRED_CERTIFICATE), await carrier(other)];
    const last = await carrier(good);
    const gateways = [...bad, last].map((phone, priority) => ({
      host: 'localhost',
      port: portOf(phone),
      transport: 'tls',
      priority,
    }));
    const path = await provider({ gateways, transport: 'tls' });
    expect((await shown(path)).port).to.equal(5061);
    const alice = await stage.phone('alice');
    const outgoing = await alice.call(OUTSIDE);
    (await last.incoming()).reject(486);
    expect((await outgoing.refused()).status).to.equal(486);
    const { gateway_states: states } = await shown(path);
    expect(states.map(({ reachable }) => reachable)).to.deep.equal([false, false, false, true]);
    const reasons = [
      /: its certificate is self-signed, and no known authority$/,
      /: its certificate has expired$/,
      /: its certificate is for another name: /,
    ];
    for (const [index, reason] of reasons.entries()) {
      expect(states[index]?.last_answer?.reason).to.match(reason);
      await eventually(() => {
        expect(stage.node.output).to.match(new RegExp(`certificate.*a gateway failed`));
        return Promise.resolve();
      });
    }
  });

  it('are offered keys by DTLS (opts.srtp_keys)', async function () {
    if (REAL_MEDIA) this.skip();
    const far = await carrier(good);
    await provider({ transport: 'tls', port: portOf(far), opts: { srtp: 'required', srtp_keys: 'dtls' } });
    const outgoing = await (await stage.phone('alice')).call(OUTSIDE);
    const incoming = await far.incoming();
    expect(incoming.invite.body).to.match(/^m=audio [1-9]\d* UDP\/TLS\/RTP\/SAVP /m);
    incoming.reject(486);
    expect((await outgoing.ended()).status).to.equal(486);
  });

  it('are asked by OPTIONS and registered with over TLS', async () => {
    const proxy = await carrier(good);
    const serviceRoute = `<sip:127.0.0.1:${portOf(proxy)};transport=tls;lr>, <sip:core.carrier.example;lr>`;
    const far = await carrier(good, { challenger: new Challenger({ ...ACCOUNT, serviceRoute }) });
    const register = { register: 'outbound', login: 'acme', pwd: 'secret', register_expires: 60 };
    const path = await provider({ transport: 'tls', port: portOf(far), ...register, opts: { ping: 1 } });
    const registered = await far.registrations.next(15_000);
    expect(header(registered, 'contact')).to.match(
      new RegExp(`^<sip:\\w+@127\\.0\\.0\\.1:${sipsPort};transport=tls>;.*;reg-id=1;\\+sip\\.instance="<urn:uuid:`),
    );
    await eventually(async () => expect(await shown(path)).to.include({ state: 'registered', reachable: true }));
    expect((await far.requests.next(15_000)).method).to.equal('OPTIONS');
    // Calls take the route that the registrar names.
    const alice = await stage.phone('alice');
    const outgoing = await alice.call(OUTSIDE);
    const incoming = await proxy.incoming();
    expect(incoming.invite.uri).to.contain(`@localhost:${portOf(far)};transport=tls`);
    const routes = incoming.invite.headers.filter(({ name }) => name.toLowerCase() === 'route');
    expect(routes.map(({ value }) => value).join(', ')).to.equal(serviceRoute);
    incoming.reject(486);
    await outgoing.refused();
  });

  it('that refuse flows (RFC 5626, 439) are registered with without one', async () => {
    const far = await carrier(good, { challenger: new Challenger({ ...ACCOUNT, withoutOutbound: true }) });
    const register = { register: 'outbound', login: 'acme', pwd: 'secret' };
    await provider({ transport: 'tls', port: portOf(far), ...register });
    const registered = await far.registrations.next(15_000);
    expect(header(registered, 'contact')).to.not.contain('reg-id');
    expect(header(registered, 'supported')).to.equal('path');
  });

  it('are shown as unreachable with the reason, where calls and OPTIONS find a wrong certificate', async () => {
    const far = await carrier(unknown);
    const path = await provider({ transport: 'tls', port: portOf(far), opts: { ping: 1 } });
    await eventually(async () => {
      const { reachable, last_answer: last } = await shown(path);
      expect(reachable).to.equal(false);
      expect(last?.reason).to.match(/^tls\/127\.0\.0\.1:\d+: its certificate is self-signed, and no known authority$/);
    });
    const alice = await stage.phone('alice');
    const outgoing = await alice.call(OUTSIDE);
    expect((await outgoing.refused()).status).to.equal(503);
    await eventually(() => {
      expect(stage.node.output).to.match(/self-signed.*the provider could not be reached/);
      return Promise.resolve();
    });
  });
});

describe('a provider over TLS at a node without a certificate', () => {
  const stage = useStage();

  it('is unreachable, with what is missing as the reason', async function () {
    if (REAL_SIP) this.skip();
    const rest = await stage.rest();
    const body = { code: 'secure', host: '127.0.0.1', transport: 'tls', opts: { ping: 1 } };
    const answer = await rest.send('POST', PROVIDERS, { body });
    const path = `${PROVIDERS}/${answer.json<{ id: string }>().id}`;
    await eventually(async () => {
      const { reachable, last_answer: last } = (await rest.get(path)).json<Shown>();
      expect(reachable).to.equal(false);
      expect(last?.reason).to.equal('The SIP server has no port for TLS, which needs a certificate');
    });
    expect((await rest.send('DELETE', path)).status).to.equal(204);
  });

  it('needs a known transport and a known encryption', async () => {
    const rest = await stage.rest();
    const base = { code: 'wrong', host: 'x.example' };
    for (const body of [
      { ...base, transport: 'wss' },
      { ...base, opts: { srtp: 'yes' } },
      { ...base, opts: { srtp: 'required', srtp_keys: 'yes' } },
      { ...base, opts: { srtp_keys: 'dtls' } },
    ])
      expect((await rest.send('POST', PROVIDERS, { body })).status).to.equal(400);
  });
});
