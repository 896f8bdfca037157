import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { CompactSign } from 'jose';
import { Certificates } from '../../runtime/stir/certificates.ts';
import { CertificateError, readCertificates, trustedSigner } from '../../runtime/stir/chain.ts';
import { type Claims, signedIdentity, signingKey } from '../../runtime/stir/passport.ts';
import { Stir } from '../../runtime/stir/stir.ts';
import * as made from './certificates.ts';
import { CertificateServer } from './support.ts';

const NUMBERS = { orig: '4930123', dest: '4940456' };
const now = (): number => Math.floor(Date.now() / 1000);

describe('signatures of calls (STIR/SHAKEN)', () => {
  let server: CertificateServer;
  let url: string;
  const trusted = getCACertificates();

  before(async () => {
    setDefaultCACertificates([made.ROOT]);
    server = await CertificateServer.start();
    url = server.put('/signer.pem', made.SIGNER);
  });

  after(async () => {
    setDefaultCACertificates(trusted);
    await server.stop();
  });

  const verifier = (mayReach: (address: string) => boolean = () => true) =>
    new Stir({
      signer: undefined,
      verifier: { roots: readCertificates(made.ROOT), certificates: new Certificates(mayReach) },
    });

  async function identity(claims: Partial<Claims> = {}, x5u = url, pem = made.SIGNER_KEY): Promise<string> {
    return signedIdentity(await signingKey(pem), x5u, { ...NUMBERS, attest: 'A', iat: now(), ...claims });
  }

  it('name the numbers, the attestation and the certificate in the form of RFC 8588', async () => {
    const signer = new Stir({ signer: { key: await signingKey(made.SIGNER_KEY), x5u: url }, verifier: undefined });
    const headers = await signer.sign(NUMBERS, 'B');
    expect(Math.abs(Date.parse(headers['Date'] ?? '') - Date.now())).to.be.below(60_000);
    const [token = '', ...parameters] = (headers['Identity'] ?? '').split(';');
    expect(parameters).to.deep.equal([`info=<${url}>`, 'alg=ES256', 'ppt=shaken']);
    const [header = '', payload = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(header)).to.deep.equal({ alg: 'ES256', ppt: 'shaken', typ: 'passport', x5u: url });
    expect(payload).to.match(
      /^\{"attest":"B","dest":\{"tn":\["4940456"\]\},"iat":\d{10},"orig":\{"tn":"4930123"\},"origid":"[0-9a-f-]{36}"\}$/,
    );
    expect(await verifier().verify([headers['Identity'] ?? ''], NUMBERS)).to.deep.equal({
      verstat: 'TN-Validation-Passed',
      attestation: 'B',
      signed: { ...NUMBERS, values: [headers['Identity']] },
    });
  });

  const failed: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ["another caller's number", () => identity({ orig: '4930124' }), /caller's number/],
    ['another called number', () => identity({ dest: '4940457' }), /called number/],
    ['an old PASSporT', () => identity({ iat: now() - 61 }), /not fresh/],
    ['a PASSporT of the future', () => identity({ iat: now() + 90 }), /not fresh/],
    ['another key', () => identity({}, url, made.STRANGER_KEY), /signature is wrong/],
    ['changed claims', async () => changed(await identity()), /signature is wrong/],
    ['another info', async () => (await identity()).replace('info=<https:', 'info=<http:'), /same certificate/],
    ['a certificate by plain HTTP', () => identity({}, 'http://127.0.0.1/x.pem'), /no https URL/],
    ['an unknown root', () => identity({}, server.put('/stranger', made.STRANGER), made.STRANGER_KEY), /trusted root/],
    ['a certificate without TNAuthList', () => identity({}, server.put('/plain', made.WITHOUT_LIST)), /TNAuthList/],
    ['a key of another curve', () => identity({}, server.put('/p384', made.OTHER_CURVE)), /P-256/],
    [
      'an issuer that is no authority',
      () => identity({}, server.put('/below', made.BELOW_NO_AUTHORITY)),
      /trusted root/,
    ],
    ['no certificate at the URL', () => identity({}, server.put('/text', 'hello')), /no certificate/],
    ['a header of another form', () => Promise.resolve('nonsense;ppt=shaken'), /another form/],
  ];
  for (const [what, header, reason] of failed) {
    it(`are not valid with ${what}`, async () => {
      const verdict = await verifier().verify([await header()], NUMBERS);
      expect(verdict.verstat).to.equal('TN-Validation-Failed');
      expect(verdict.reason).to.match(reason);
    });
  }

  it('cannot be checked without one, of another kind, or without its certificate', async () => {
    const big = server.put('/big', 'x'.repeat(70_000));
    const gone = server.put('/gone', '', 500);
    for (const [values, stir, reason] of [
      [[], verifier(), /not signed/],
      [[(await identity()).replace('ppt=shaken', 'ppt=div')], verifier(), /not signed/],
      [[await identity({}, gone)], verifier(), /answered 500/],
      [[await identity({}, big)], verifier(), /more than 65536 octets/],
      [[await identity()], verifier((address) => address !== '127.0.0.1'), /not public/],
      [[await identity({}, 'https://127.0.0.1:1/x.pem')], verifier(), /cannot be fetched/],
    ] as const) {
      const verdict = await stir.verify(values, NUMBERS);
      expect(verdict.verstat).to.equal('No-TN-Validation');
      expect(verdict.reason).to.match(reason);
    }
  });

  describe('of forwarded calls (RFC 8946)', () => {
    async function diversion(from: string, to: string, claims: object = {}, pem = made.SIGNER_KEY): Promise<string> {
      const payload = { dest: { tn: [to] }, div: { tn: from }, iat: now(), orig: { tn: NUMBERS.orig }, ...claims };
      const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', ppt: 'div', typ: 'passport', x5u: url })
        .sign(await signingKey(pem));
      return `${token};info=<${url}>;alg=ES256;ppt=div`;
    }
    const verdict = async (...values: readonly Promise<string>[]) =>
      verifier().verify(await Promise.all(values), { ...NUMBERS, dest: '4940789' });

    it('are valid when signed diversions lead from the first called number to the last', async () => {
      const passed = { verstat: 'TN-Validation-Passed', attestation: 'A' };
      expect(await verdict(identity(), diversion('4940456', '4940789'))).to.deep.include(passed);
      expect(
        await verdict(
          diversion('4940111', '4940789', { iat: now() }),
          identity({ iat: now() - 80 }),
          diversion('4940456', '4940111', { iat: now() - 40 }),
        ),
      ).to.deep.include(passed);
    });

    it('of this node lead on to the next number, in the form of RFC 8946', async () => {
      const forwarder = new Stir({ signer: { key: await signingKey(made.SIGNER_KEY), x5u: url }, verifier: undefined });
      const first = await identity();
      const { signed } = await verifier().verify([first], NUMBERS);
      if (signed === undefined) throw new Error('not valid');
      const values = await forwarder.divert(signed, '4940789');
      expect(values[0]).to.equal(first);
      const [header = '', payload = ''] = (values[1] ?? '').split('.');
      const text = (part: string): string => Buffer.from(part, 'base64url').toString();
      expect(JSON.parse(text(header))).to.deep.equal({ alg: 'ES256', ppt: 'div', typ: 'passport', x5u: url });
      expect(text(payload)).to.match(
        /^\{"dest":\{"tn":\["4940789"\]\},"div":\{"tn":"4940456"\},"iat":\d{10},"orig":\{"tn":"4930123"\}\}$/,
      );
      const second = await verifier().verify(values, { ...NUMBERS, dest: '4940789' });
      expect(second).to.include({ verstat: 'TN-Validation-Passed', attestation: 'A' });
      const third = await forwarder.divert(second.signed ?? signed, '4940111');
      expect(third.slice(0, 2)).to.deep.equal(values);
      expect(await verifier().verify(third, { ...NUMBERS, dest: '4940111' })).to.include({ attestation: 'A' });
      expect(await forwarder.divert(signed, NUMBERS.dest), 'the same number').to.deep.equal([first]);
    });

    for (const [what, values, reason] of [
      ['a gap', () => [identity(), diversion('4940111', '4940789')], /called number/],
      [
        'a circle',
        () => [identity(), diversion('4940111', '4940789'), diversion('4940789', '4940111')],
        /called number/,
      ],
      ['another caller', () => [identity(), diversion('4940456', '4940789', { orig: { tn: '1' } })], /another caller/],
      ['an old one', () => [identity(), diversion('4940456', '4940789', { iat: now() - 90 })], /not fresh/],
      ['a forged one', () => [identity(), diversion('4940456', '4940789', {}, made.STRANGER_KEY)], /signature/],
      ['none that says from whom', () => [identity(), diversion('4940456', '4940789', { div: {} })], /lacks div/],
    ] as const)
      it(`are not valid with ${what}`, async () => {
        const { verstat, reason: why } = await verdict(...values());
        expect(verstat).to.equal('TN-Validation-Failed');
        expect(why).to.match(reason);
      });
  });

  it('of a call between names that are no telephone numbers are not valid', async () => {
    expect((await verifier().verify([await identity()], undefined)).verstat).to.equal('TN-Validation-Failed');
  });

  it('fetch a certificate once, also for calls at the same time', async () => {
    const stir = verifier();
    const own = server.put('/once', made.SIGNER);
    const values = [await identity({}, own)];
    const all = await Promise.all([1, 2, 3].map(() => stir.verify(values, NUMBERS)));
    expect(all.map(({ verstat }) => verstat)).to.deep.equal(Array(3).fill('TN-Validation-Passed'));
    await stir.verify(values, NUMBERS);
    expect(server.asked.filter((path) => path === '/once')).to.have.length(1);
  });

  it('end with their certificates', () => {
    const [chain, roots] = [readCertificates(made.SIGNER), readCertificates(made.ROOT)];
    const year = 365 * 86_400_000;
    expect(trustedSigner(chain, roots, Date.now()).subject).to.equal('CN=signer');
    expect(() => trustedSigner(chain, roots, Date.now() + 200 * year)).to.throw(CertificateError, 'expired');
    expect(() => trustedSigner(chain, roots, Date.now() - 100 * year)).to.throw(CertificateError, 'not valid yet');
  });
});

/** The same with one digit of the caller's number changed. */
function changed(identity: string): string {
  return identity.replace(/\.([^.]+)\./, (_, payload: string) => {
    const claims = Buffer.from(payload, 'base64url').toString().replace('4930123', '4930129');
    return `.${Buffer.from(claims).toString('base64url')}.`;
  });
}
