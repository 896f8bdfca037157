import { expect } from 'chai';
import { Challenger } from '../phones/challenger.ts';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { parseNameAddr, parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

const PROVIDERS = '/rest/v1/domain/providers';
const ROUTES = '/rest/v1/domain/routes';
const ACCOUNT = { realm: 'operator.example', username: 'acme', password: 'trunk-secret' };
/** An external number, reached through the operator. */
const OUTSIDE = '0030123456';

describe('providers', () => {
  const stage = useStage({ ownNode: true });
  const made: string[] = [];
  const operators: Phone[] = [];

  afterEach(async () => {
    for (const one of operators.splice(0)) await one.stop();
    const admin = await stage.rest();
    for (const path of made.splice(0).toReversed()) expect((await admin.send('DELETE', path)).status).to.equal(204);
  });

  /** The operator's switch, on a port of its own, with one number. */
  async function operator(login: string, options: Partial<PhoneOptions> = {}): Promise<Phone> {
    const phone = await Phone.start({ login, domain: 'demo.local', ...options });
    operators.push(phone);
    return phone;
  }

  async function make(collection: string, body: object): Promise<string> {
    const answer = await (await stage.rest()).send('POST', collection, { body });
    expect(answer.status, answer.text).to.equal(200);
    const { id } = answer.json<{ id: string }>();
    made.push(`${collection}/${id}`);
    return id;
  }

  async function provider(at: Phone, settings: object = {}): Promise<string> {
    const { host, port } = parseUri(at.contact);
    return make(PROVIDERS, { code: 'operator', host, port, ...settings });
  }

  const outbound = (): Promise<string> =>
    make(ROUTES, { to_pattern: '00%', target: { type: 'provider', code: 'operator' } });

  describe('outgoing calls', () => {
    it('reach the number, with the operator as the other side of the dialog', async () => {
      const outside = await operator(OUTSIDE);
      await provider(outside);
      await outbound();
      const alice = await stage.phone('alice');
      const { outgoing, incoming } = await stage.connect(alice, outside, OUTSIDE);
      await expectTalk(outgoing, incoming);
      expect(incoming.callerId).to.equal('101');
      const dialog = await stage.dialog();
      expect(dialog).to.include({ esgdlg: '', esgcallid: '' });
      expect(dialog.uris).to.include(`<sip:${OUTSIDE}@demo.local>`);
      await incoming.hangup();
      await outgoing.ended();
    });

    it('answer the challenge of the operator', async () => {
      const outside = await operator(OUTSIDE, { challenger: new Challenger(ACCOUNT) });
      await provider(outside, { login: 'acme', pwd: 'trunk-secret', from_domain: 'operator.example' });
      await outbound();
      const alice = await stage.phone('alice');
      const { outgoing, incoming } = await stage.connect(alice, outside, OUTSIDE);
      expect(parseNameAddr(header(incoming.invite, 'from') ?? '').uri).to.equal('sip:101@operator.example');
      await outgoing.hangup();
      await incoming.ended();
    });

    it('end with the status of the operator when it refuses the password', async () => {
      const outside = await operator(OUTSIDE, { challenger: new Challenger(ACCOUNT) });
      await provider(outside, { login: 'acme', pwd: 'wrong' });
      await outbound();
      const alice = await stage.phone('alice');
      expect((await (await alice.call(OUTSIDE)).refused()).status).to.equal(403);
    });

    for (const [what, account] of [
      ['another password than ours', { login: 'acme', pwd: 'wrong' }],
      ['a password where we have none', {}],
    ] as const) {
      it(`end with 500 and without a challenge when the operator requires ${what}; the log names the provider`, async () => {
        const outside = await operator(OUTSIDE, { challenger: new Challenger({ ...ACCOUNT, refusesWith: 407 }) });
        await provider(outside, { code: 'acme-trunk', ...account });
        await make(ROUTES, { to_pattern: '00%', target: { type: 'provider', code: 'acme-trunk' } });
        const alice = await stage.phone('alice');
        const before = stage.node.output.length;
        expect((await (await alice.call(OUTSIDE)).refused()).status).to.equal(500);
        await eventually(async () => {
          const lines = stage.node.output.slice(before).split('\n');
          expect(lines.find((line) => line.includes('rejected our credentials'))).to.contain('acme-trunk');
        });
      });
    }

    it('show the operator the mapped numbers', async () => {
      const outside = await operator('+4930123456');
      await provider(outside, {
        mapping: {
          outbound: [{ pattern: '00%', strip: 2, prepend: '+49' }],
          callerid: [{ pattern: '1%', strip: 0, prepend: '+49308' }],
        },
      });
      await outbound();
      const alice = await stage.phone('alice');
      await alice.call('0030123456').then(async (call) => {
        const incoming = await outside.incoming();
        expect(incoming.callerId).to.equal('+49308101');
        expect(parseUri(parseNameAddr(incoming.header('to') ?? '').uri).user).to.equal('+4930123456');
        incoming.reject(486);
        expect((await call.refused()).status).to.equal(486);
      });
    });

    it('are written by the rules of E.164, to and from the operator, around the mapping', async () => {
      const outside = await operator('4930123456', { registrar: stage.node.sip });
      await provider(outside, {
        numbers: ['0308%'],
        numbering: { country: '49', format: 'digits', inside: 'national' },
        mapping: {
          outbound: [{ pattern: '00%', strip: 1, prepend: '' }],
          callerid: [{ pattern: '1%', strip: 0, prepend: '0308' }],
          inbound: [{ pattern: '0308%', strip: 4, prepend: '' }],
        },
      });
      await outbound();
      const alice = await stage.phone('alice');
      const out = await alice.call('0030123456');
      const incoming = await outside.incoming();
      expect(incoming.callerId).to.equal('49308101');
      expect(parseUri(parseNameAddr(incoming.header('to') ?? '').uri).user).to.equal('4930123456');
      incoming.reject(486);
      await out.refused();
      const back = await outside.call('sip:49308101@demo.local');
      const there = await alice.incoming();
      expect(there.callerId).to.equal('030123456');
      there.reject(486);
      await back.refused();
      expect((await (await outside.call('sip:4940101@demo.local')).refused()).status).to.equal(404);
    });

    it('are refused for a disabled or full provider', async () => {
      const outside = await operator(OUTSIDE);
      const id = await provider(outside, { max_calls: 1 });
      await outbound();
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, outside, OUTSIDE);
      expect((await (await bob.call(OUTSIDE)).refused()).status).to.equal(503);
      await outgoing.hangup();
      await incoming.ended();
      const changed = await (await stage.rest()).send('PATCH', `${PROVIDERS}/${id}`, { body: { enabled: false } });
      expect(changed.status, changed.text).to.equal(200);
      expect((await (await bob.call(OUTSIDE)).refused()).status).to.equal(503);
      expect(outside.waitingCalls).to.equal(0);
    });

    it('are made when a phone forwards outside by 302, but not when the operator does', async () => {
      const outside = await operator(OUTSIDE);
      await provider(outside);
      await outbound();
      const [alice, bob] = await stage.phones('alice', 'bob');
      const outgoing = await alice.call('102');
      const forwarding = { headers: [{ name: 'Contact', value: `<sip:${OUTSIDE}@demo.local>` }] };
      (await bob.incoming()).reject(302, forwarding);
      const incoming = await outside.incoming();
      expect(incoming.callerId, 'of whoever forwards').to.equal('102');
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
      await incoming.ended();
      const circle = await alice.call(OUTSIDE);
      (await outside.incoming()).reject(302, { headers: [{ name: 'Contact', value: '<sip:501@demo.local>' }] });
      expect((await circle.refused()).status).to.equal(302);
      expect(outside.waitingCalls).to.equal(0);
    });

    it('can be transferred, and calls can be transferred outside', async () => {
      const outside = await operator(OUTSIDE);
      await provider(outside);
      await outbound();
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const body = { by: 'sip:101@demo.local', referto: OUTSIDE, response_mode: 4 };
      const answering = (await stage.rest()).send('REFER', `${CALLS}/${dialogid}`, { body });
      const there = await outside.incoming();
      await there.answer();
      const answer = await answering;
      expect(answer.json<object>(), answer.text).to.include({ result: 'ok' });
      await outgoing.ended();
      await expectTalk(incoming, there);
      await there.hangup();
      await incoming.ended();
    });
  });

  describe('incoming calls', () => {
    it('are identified by their source address, and show the external side', async () => {
      const outside = await operator(OUTSIDE, { registrar: stage.node.sip });
      await provider(outside, { mapping: { inbound: [{ pattern: '49308%', strip: 5, prepend: '' }] } });
      const bob = await stage.phone('bob');
      const { outgoing, incoming } = await stage.connect(outside, bob, '49308102');
      await expectTalk(outgoing, incoming);
      expect(incoming.callerId).to.equal(OUTSIDE);
      const dialog = await stage.dialog();
      expect(dialog.esgcallid).to.equal(outgoing.callId);
      expect(dialog.esgdlg).to.match(/^[0-9a-f]+$/);
      expect(dialog.acallid).to.not.equal(outgoing.callId);
      const masked = await (await stage.rest()).get(`${CALLS}/${dialog.dialogid}?mask=esgdlgid`);
      expect(masked.json<object>()).to.deep.equal({ esgdlg: dialog.esgdlg });
      await outgoing.hangup();
      await incoming.ended();
    });

    it('keep the ids of the external side through transfers', async () => {
      const outside = await operator(OUTSIDE, { registrar: stage.node.sip });
      await provider(outside);
      const [bob, carol] = await stage.phones('bob', 'carol');
      const { outgoing, incoming } = await stage.connect(outside, bob, '102');
      const before = await stage.dialog();
      const body = { by: 'sip:102@demo.local', referto: '103', response_mode: 4 };
      const answering = (await stage.rest()).send('REFER', `${CALLS}/${before.dialogid}`, { body });
      const there = await carol.incoming();
      await there.answer();
      expect((await answering).json<{ result: string }>().result).to.equal('ok');
      await incoming.ended();
      const { esgdlg, esgcallid }: Dialog = await stage.dialog();
      expect({ esgdlg, esgcallid }).to.deep.equal({ esgdlg: before.esgdlg, esgcallid: before.esgcallid });
      await expectTalk(outgoing, there);
      await outgoing.hangup();
      await there.ended();
    });

    const asserted = { name: 'P-Asserted-Identity', value: '"Secret Caller" <sip:+4940999@operator.example>' };
    for (const [what, from, privacy] of [
      ['Privacy: id', { login: 'anonymous', domain: 'anonymous.invalid' }, 'id'],
      [
        'Privacy: user;id, with a number in From',
        { login: '+4940999', domain: 'operator.example' },
        'user;id;critical',
      ],
      ['an anonymous From alone', { login: 'anonymous', domain: 'anonymous.invalid' }, undefined],
    ] as const) {
      it(`a number withheld by ${what} is anonymous to phones, in lists of calls and after transfers`, async () => {
        const outside = await operator(from.login, { ...from, registrar: stage.node.sip });
        await provider(outside);
        const [bob, carol] = await stage.phones('bob', 'carol');
        const headers = [asserted, ...(privacy === undefined ? [] : [{ name: 'Privacy', value: privacy }])];
        const outgoing = await outside.call('sip:102@demo.local', { headers });
        const incoming = await bob.incoming();
        await incoming.answer();
        await outgoing.answered();
        const { dialogid } = await stage.dialog();
        const body = { by: 'sip:102@demo.local', referto: '103', response_mode: 4 };
        const answering = (await stage.rest()).send('REFER', `${CALLS}/${dialogid}`, { body });
        const there = await carol.incoming();
        await there.answer();
        expect((await answering).json<{ result: string }>().result).to.equal('ok');
        for (const { invite } of [incoming, there]) {
          expect(header(invite, 'from')).to.match(/^"Anonymous" <sip:anonymous@anonymous\.invalid>;tag=/);
          expect(JSON.stringify(invite)).to.not.match(/4940999|Secret/);
        }
        const dialog = await stage.dialog();
        expect(dialog.uris).to.include('<sip:anonymous@demo.local>');
        expect(JSON.stringify(dialog)).to.not.match(/4940999|Secret/);
        await outgoing.hangup();
        await there.ended();
      });
    }

    it('show phones the asserted number when nothing is withheld', async () => {
      const outside = await operator('anonymous', { domain: 'anonymous.invalid', registrar: stage.node.sip });
      await provider(outside);
      const bob = await stage.phone('bob');
      const headers = [asserted, { name: 'Privacy', value: 'none' }];
      const outgoing = await outside.call('sip:102@demo.local', { headers });
      const incoming = await bob.incoming();
      expect(header(incoming.invite, 'from')).to.match(/^"Secret Caller" <sip:\+4940999@demo\.local>;tag=/);
      incoming.reject(486);
      await outgoing.refused();
    });

    it('reach only the numbers of the account, and no external number', async () => {
      const outside = await operator(OUTSIDE, { registrar: stage.node.sip });
      await provider(outside, { numbers: ['10?', '00%'] });
      await outbound();
      expect((await (await outside.call('501')).refused()).status).to.equal(404);
      expect((await (await outside.call('0099')).refused()).status).to.equal(403);
      expect(outside.waitingCalls).to.equal(0);
    });

    it('reach scenarios', async () => {
      const outside = await operator(OUTSIDE, { registrar: stage.node.sip });
      await provider(outside);
      const call = await outside.call('501');
      await call.answered();
      call.play(440);
      await call.hears(440);
      await call.hangup();
    });

    it('are challenged from any other address', async () => {
      const outside = await operator(OUTSIDE);
      await provider(outside);
      const stranger = await operator(OUTSIDE, { registrar: stage.node.sip, password: 'guess' });
      expect((await (await stranger.call('102')).refused()).status).to.be.oneOf([403, 407]);
    });
  });

  describe('registration', () => {
    it('is made at the operator; a changed account is registered anew and the old registration removed', async () => {
      const outside = await operator('acme', { challenger: new Challenger(ACCOUNT), registrar: stage.node.sip });
      const id = await provider(outside, {
        register: 'outbound',
        login: 'acme',
        pwd: 'trunk-secret',
        from_domain: 'operator.example',
        // Calls reach the registered contact only: this address is unused.
        addresses: ['192.0.2.1'],
      });
      const first = await outside.registrations.next(5000);
      expect(parseNameAddr(header(first, 'to') ?? '').uri).to.equal('sip:acme@operator.example');
      const contact = parseNameAddr(header(first, 'contact') ?? '').uri;
      const bob = await stage.phone('bob');
      const headers = [{ name: 'P-Asserted-Identity', value: '<tel:+4940999>' }];
      const call = await outside.call(contact, { to: 'sip:102@operator.example', headers });
      const incoming = await bob.incoming();
      expect(incoming.callerId).to.equal('+4940999');
      incoming.reject(486);
      await call.refused();
      const changed = await (await stage.rest()).send('PATCH', `${PROVIDERS}/${id}`, {
        body: { register_expires: 900 },
      });
      expect(changed.status, changed.text).to.equal(200);
      // The old registration is removed while the new one is made.
      const next = [await outside.registrations.next(5000), await outside.registrations.next(5000)];
      expect(next.map((request) => header(request, 'expires'))).to.have.members(['0', '900']);
    });

    it('uses the minimum interval of the operator (423)', async () => {
      const outside = await operator('acme', { challenger: new Challenger({ ...ACCOUNT, minExpires: 1800 }) });
      const account = { login: 'acme', pwd: 'trunk-secret', from_domain: 'operator.example' };
      await provider(outside, { register: 'outbound', register_expires: 60, ...account });
      expect(header(await outside.registrations.next(5000), 'expires')).to.equal('1800');
    });

    it('is made again at once when its connection is lost', async function () {
      // A real drachtio-server does not tell.
      if (REAL_SIP) this.skip();
      const outside = await operator('acme', { challenger: new Challenger(ACCOUNT), transport: 'tcp' });
      const account = { login: 'acme', pwd: 'trunk-secret', from_domain: 'operator.example' };
      await provider(outside, { register: 'outbound', transport: 'tcp', ...account });
      const first = await outside.registrations.next(15_000);
      const [, instance] = /;\+sip\.instance="<urn:uuid:([^>]+)>"/.exec(header(first, 'contact') ?? '') ?? [];
      expect(instance).to.match(/^[\da-f-]{36}$/);
      outside.cut();
      const second = await outside.registrations.next(15_000);
      expect(header(second, 'contact')).to.contain(instance);
      expect(header(second, 'call-id')).to.equal(header(first, 'call-id'));
    });

    it('of a gateway is accepted here, and calls reach it', async () => {
      const gateway = await operator(OUTSIDE, { registrar: stage.node.sip, password: 'gate-secret' });
      await provider(gateway, { register: 'inbound', login: OUTSIDE, pwd: 'gate-secret', addresses: ['192.0.2.1'] });
      await outbound();
      const alice = await stage.phone('alice');
      expect((await (await alice.call(OUTSIDE)).refused()).status, 'not registered yet').to.equal(480);
      expect((await gateway.register({ password: 'wrong' })).status).to.be.oneOf([401, 403]);
      expect((await gateway.register()).status).to.equal(200);
      const out = await stage.connect(alice, gateway, OUTSIDE);
      await out.outgoing.hangup();
      await out.incoming.ended();
      const inward = await stage.connect(gateway, alice, '101');
      expect((await stage.dialog()).esgcallid).to.equal(inward.outgoing.callId);
      await inward.outgoing.hangup();
      await inward.incoming.ended();
      expect((await gateway.unregister()).status).to.equal(200);
    });
  });

  it('never show their password, and name an invalid field', async () => {
    const outside = await operator(OUTSIDE);
    const id = await provider(outside, { login: 'acme', pwd: 'trunk-secret' });
    const read = await (await stage.rest()).get(`${PROVIDERS}/${id}`);
    expect(read.text).to.not.contain('trunk-secret');
    const nowhere = await (await stage.rest()).send('POST', ROUTES, {
      body: { to_pattern: '9%', target: { type: 'provider', code: 'none' } },
    });
    expect(expectError(nowhere, 400, 1400).error_details?.field).to.equal('target.code');
  });
});
