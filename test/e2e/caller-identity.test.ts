import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { Phone } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import { eventually } from '../support/eventually.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

const DOMAIN = '/rest/v1/domain';
/** An external number, reached through the carrier. */
const OUTSIDE = '0078123456';
const ANONYMOUS = /^"Anonymous" <sip:anonymous@anonymous\.invalid>;tag=/;

describe('the identity of a caller', () => {
  const stage = useStage();
  const made: string[] = [];
  const carriers: Phone[] = [];

  afterEach(async () => {
    const admin = await stage.rest();
    for (const path of made.splice(0).toReversed()) expect((await admin.send('DELETE', path)).status).to.equal(204);
    for (const one of carriers.splice(0)) await one.stop();
  });

  async function make(collection: string, body: object): Promise<string> {
    const answer = await (await stage.rest()).send('POST', `${DOMAIN}/${collection}`, { body });
    expect(answer.status, answer.text).to.equal(200);
    const { id } = answer.json<{ id: string }>();
    made.push(`${DOMAIN}/${collection}/${id}`);
    return id;
  }

  async function carrier(identity: object): Promise<Phone> {
    const phone = await Phone.start({ login: OUTSIDE, domain: 'carrier.example', registrar: stage.node.sip });
    carriers.push(phone);
    const { host, port } = parseUri(phone.contact);
    const callerid = [{ pattern: '1??', strip: 0, prepend: '+49308' }];
    const settings = { from_domain: 'carrier.example', identity, mapping: { callerid } };
    await make('providers', { code: 'named', host, port, ...settings });
    await make('routes', { to_pattern: '0078%', target: { type: 'provider', code: 'named' } });
    return phone;
  }

  const shown = ({ invite }: IncomingCall) => ({
    from: header(invite, 'from')?.replace(/;tag=.*/, ''),
    privacy: header(invite, 'privacy'),
    asserted: header(invite, 'p-asserted-identity'),
    preferred: header(invite, 'p-preferred-identity'),
  });
  const ALICE = '"Alice" <sip:+49308101@carrier.example>';
  const NOBODY = '"Anonymous" <sip:anonymous@anonymous.invalid>';
  const HIDDEN = { headers: [{ name: 'Privacy', value: 'id' }] };

  for (const [send, known, hidden] of [
    ['none', {}, {}],
    ['asserted', { asserted: ALICE }, { asserted: ALICE }],
    ['preferred', { preferred: ALICE }, { preferred: ALICE }],
  ] as const) {
    it(`goes to a provider with identity.send ${send}, also of a caller who withholds the number`, async () => {
      const outside = await carrier({ send });
      const alice = await stage.phone('alice');
      const none = { privacy: undefined, asserted: undefined, preferred: undefined };
      const open = await alice.call(OUTSIDE);
      const first = await outside.incoming();
      expect(shown(first)).to.deep.equal({ from: ALICE, ...none, ...known });
      first.reject(486);
      await open.refused();
      const secret = await alice.call(OUTSIDE, HIDDEN);
      const second = await outside.incoming();
      expect(shown(second)).to.deep.equal({ from: NOBODY, ...none, privacy: 'id', ...hidden });
      if (send === 'none') expect(JSON.stringify(second.invite)).to.not.match(/308101|Alice/);
      second.reject(486);
      await secret.refused();
    });
  }

  for (const [trusted, number] of [
    [true, '+4940999'],
    [false, OUTSIDE],
  ] as const) {
    it(`of a provider with identity.trusted ${trusted} is that of ${trusted ? 'P-Asserted-Identity' : 'From'}`, async () => {
      const outside = await carrier({ trusted });
      const bob = await stage.phone('bob');
      const headers = [{ name: 'P-Asserted-Identity', value: '"Main" <sip:+4940999@carrier.example>' }];
      const outgoing = await outside.call('sip:102@demo.local', { headers });
      const incoming = await bob.incoming();
      expect(incoming.callerId).to.equal(number);
      expect(header(incoming.invite, 'p-asserted-identity')).to.equal(undefined);
      incoming.reject(486);
      await outgoing.refused();
    });
  }

  it('that a phone asserts is never passed on; the preferred one only when its owner has that number', async () => {
    const rest = await stage.rest();
    const query = { filter: '{"login":"alice"}' };
    const [account] = (await rest.get(`${DOMAIN}/sipusers`, query)).json<readonly { user_id: string }[]>();
    await make('sipusers', { login: 'alice-desk', phonenumber: '181', name: 'Desk', user_id: account?.user_id });
    const outside = await carrier({ send: 'asserted' });
    const alice = await stage.phone('alice');
    for (const [preferred, number] of [
      ['<sip:181@demo.local>', '+49308181'],
      ['<tel:181>', '+49308181'],
      ['<sip:102@demo.local>', '+49308101'],
      ['<sip:+4930110@carrier.example>', '+49308101'],
      // A real drachtio-server refuses this itself.
      ...(REAL_SIP ? [] : [['no address', '+49308101'] as const]),
    ] as const) {
      const headers = [
        { name: 'P-Asserted-Identity', value: '<sip:+4930110@carrier.example>' },
        { name: 'P-Preferred-Identity', value: preferred },
      ];
      const outgoing = await alice.call(OUTSIDE, { headers });
      const incoming = await outside.incoming();
      expect(incoming.callerId, preferred).to.equal(number);
      expect(header(incoming.invite, 'p-asserted-identity')).to.contain(`sip:${number}@carrier.example`);
      expect(JSON.stringify(incoming.invite)).to.not.contain('4930110');
      incoming.reject(486);
      await outgoing.refused();
    }
  });

  it('is withheld by a featurecode clir, from phones and providers and after a transfer; the history keeps the account', async () => {
    await make('featurecodes', { prefix: '*31', type: 'clir' });
    const outside = await carrier({ send: 'asserted' });
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const outgoing = await alice.call('*31102');
    const incoming = await bob.incoming();
    expect(header(incoming.invite, 'from')).to.match(ANONYMOUS);
    expect(header(incoming.invite, 'privacy')).to.equal('id');
    expect(JSON.stringify(incoming.invite)).to.not.match(/Alice|alice|sip:101@/);
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
    const { dialogid } = await stage.dialog();
    const body = { by: 'sip:102@demo.local', referto: '103', response_mode: 4 };
    const answering = (await stage.rest()).send('REFER', `${CALLS}/${dialogid}`, { body });
    const there = await carol.incoming();
    expect(header(there.invite, 'from')).to.match(ANONYMOUS);
    await there.answer();
    expect((await answering).json<{ result: string }>().result).to.equal('ok');
    await outgoing.hangup();
    await there.ended();

    const away = await alice.call(`*31${OUTSIDE}`);
    const called = await outside.incoming();
    expect(shown(called)).to.include({ from: NOBODY, privacy: 'id', asserted: ALICE });
    called.reject(486);
    await away.refused();
    expect((await (await alice.call('*31')).refused()).status).to.equal(404);
    await eventually(async () => {
      const query = { filter: JSON.stringify({ dialled: `*31${OUTSIDE}` }), mask: 'caller_number,caller_login,trunk' };
      const list = (await (await stage.rest()).get('/rest/v1/uc/history', query)).json();
      expect(list).to.deep.equal([{ caller_number: 'anonymous', caller_login: 'alice', trunk: 'named' }]);
    });
  });

  it('is withheld from a scenario and from the phones that it calls', async () => {
    await make('featurecodes', { prefix: '*31', type: 'clir' });
    const call = 'call: { to: "102", timeout: 20s }\n    leg: far\n    exits: { answered: end, refused: end }';
    const source = `id: on\nstart: ask\nblocks:\n  ask:\n    ${call}\n`;
    await make('ivrscripts', { code: 'on', name: 'on', scriptdata: { format: 'yaml', source } });
    await make('routes', { to_pattern: '578', target: { type: 'scenario', code: 'on' } });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const outgoing = await alice.call('*31578');
    const incoming = await bob.incoming();
    expect(header(incoming.invite, 'from')).to.match(ANONYMOUS);
    incoming.reject(486);
    await outgoing.refused();
  });

  it('is withheld by callerid anonymous of an operation, from both phones', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const body = { from: '101', to: '102', callerid: 'anonymous', response_mode: 4 };
    const answering = stage.operate('POST', body);
    const first = await alice.incoming();
    expect(shown(first)).to.include({ from: NOBODY, privacy: 'id' });
    await first.answer();
    const second = await bob.incoming();
    expect(shown(second)).to.include({ from: NOBODY, privacy: 'id' });
    await second.answer();
    expect((await answering).json<{ result: string }>().result).to.equal('ok');
    await first.hangup();
    await second.ended();
  });

  it('has settings whose mistakes are named', async () => {
    for (const [field, settings] of [
      ['identity.trusted', { identity: { trusted: 'yes' } }],
      ['identity.send', { identity: { send: 'rpid' } }],
      ['identity.trust', { identity: { trust: true } }],
      ['numbering.country', { numbering: { national: '0' } }],
      ['numbering.country', { numbering: { country: '049' } }],
      ['numbering.national', { numbering: { country: '49', national: '001' } }],
      ['numbering.international', { numbering: { country: '49', international: '+' } }],
      ['numbering.format', { numbering: { country: '49', format: 'plus' } }],
    ] as const) {
      const answer = await (await stage.rest()).send('POST', `${DOMAIN}/providers`, {
        body: { code: 'bad', host: 'carrier.invalid', ...settings },
      });
      expect(expectError(answer, 400, 1400).error_details?.field).to.equal(field);
    }
  });
});
