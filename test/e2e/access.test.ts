import { expect } from 'chai';
import { findPeer } from '../phones/peers.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import { RestClient } from '../phones/rest-client.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';
import { TwoDomains } from './two-domains.ts';

const OWN = '/rest/v1/user/sip/calls';
const ALICE = '<sip:alice@demo.local>';

/** Every operation on a dialog of demo.local, with a valid request body. */
const ON_A_DIALOG: readonly (readonly [method: string, body: (dialog: Facts) => object])[] = [
  ['REFER', () => ({ by: ALICE, referto: '103' })],
  ['REFERREPLACES', ({ other }) => ({ masterby: ALICE, slaveby: ALICE, slavedialogid: other })],
  ['SWITCHCONF', () => ({})],
  ['REFERCONF', () => ({ by: ALICE, referconfroomnum: '771' })],
  ['NOTIFY', ({ callid }) => ({ callid, event: 'talk' })],
  ['SEND_DTMF', () => ({ side: 'b', dtmf: '1' })],
  ['SETUP_ASR', () => ({ command: 'add', layer: 'one', side: 'a' })],
  ['SETUP_RECORD', () => ({ command: 'add', side: 'a' })],
  ['SETUP_BINDINGS', () => ({ command: 'add', label: 'stranger' })],
  ['STOP_HOLD_MELODY', () => ({ mode: 'permanent' })],
  ['DELETE', () => ({})],
];

/** Selectors that match the dialog, for a user who may see it. */
const SELECTORS = ['dialogid', 'inviteid', 'callid', 'uri', 'from', 'sipuserid', 'sipuserlogin', 'userid'] as const;

interface Facts extends Readonly<Record<(typeof SELECTORS)[number], string>> {
  /** Another dialog of alice. */
  readonly other: string;
}

describe('access to calls by user, role and domain', () => {
  const stage = useStage({ ownNode: true });
  let domains: TwoDomains;
  const clients: Record<string, RestClient> = {};

  before('make the domains and log everybody in', async function () {
    this.timeout(60_000);
    domains = await TwoDomains.make(stage.node);
    Object.assign(clients, domains.clients, { anonymous: new RestClient(stage.node.base) });
  });
  after(() => {
    domains.stopListening();
    for (const each of Object.values(clients)) each.close();
  });

  function client(who: string): RestClient {
    const found = clients[who];
    if (found === undefined) throw new Error(`nobody is called ${who}`);
    return found;
  }

  /** Alice talks to bob, and holds carol. */
  async function scene() {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const held = await stage.connect(alice, carol, '103');
    await held.outgoing.hold();
    const { dialogid: other } = await stage.dialog();
    const call = await stage.connect(alice, bob, '102');
    await expectTalk(call.outgoing, call.incoming);
    const dialog = (await stage.dialogs()).find(({ dialogid }) => dialogid !== other);
    if (dialog === undefined) throw new Error('the call is not in the list');
    const account = await domains.sipUser('bob');
    const facts: Facts = {
      dialogid: dialog.dialogid,
      inviteid: dialog.inviteid,
      callid: call.incoming.callId,
      uri: '<sip:102@demo.local>',
      from: '102',
      sipuserid: account.id,
      sipuserlogin: 'bob',
      userid: account.user_id,
      other,
    };
    return { ...call, facts, phones: [alice, bob, carol] };
  }

  /** The call is unchanged, and no phone has received anything. */
  async function expectUntouched({ outgoing, incoming, facts, phones }: Awaited<ReturnType<typeof scene>>) {
    await expectTalk(outgoing, incoming);
    const before = [facts.other, facts.dialogid];
    expect((await stage.dialogs()).map(({ dialogid }) => dialogid)).to.have.members(before);
    for (const call of [outgoing, incoming] as readonly PhoneCall[]) {
      expect([call.infos.length, call.notifies.pending, call.session.rtp.digits]).to.deep.equal([0, 0, '']);
    }
    for (const phone of phones) expect(phone.waitingCalls).to.equal(0);
    const labels = await client('admin').send('SETUP_BINDINGS', `${CALLS}/${facts.dialogid}`, {
      body: { command: 'get' },
    });
    expect(labels.json()).to.deep.include({ labels: [] });
  }

  const STRANGERS: readonly (readonly [who: string, base: string, status: number, code: number])[] = [
    ['anonymous', CALLS, 401, 1401],
    ['anonymous', OWN, 401, 1401],
    ['guest', CALLS, 403, 1401],
    ['guest', OWN, 404, 1413],
    ['dave', OWN, 404, 1413],
    ['zoe', CALLS, 403, 1401],
    ['zoe', OWN, 404, 1413],
    ['boss', CALLS, 404, 1413],
    ['boss', OWN, 404, 1413],
    ['chief', CALLS, 404, 1413],
    ['chief', OWN, 404, 1413],
    ['root', CALLS, 404, 1413],
    ['admin', OWN, 404, 1413],
  ];

  for (const [who, base, status, code] of STRANGERS) {
    it(`${who} gets ${status}/${code} at ${base.slice('/rest/v1'.length)} for every operation on the call, and the call is untouched`, async () => {
      const set = await scene();
      const { facts } = set;
      const rest = client(who);
      const refused = async (method: string, path: string, body?: object, query = {}) => {
        const answer = await rest.send(method, path, { query, ...(body === undefined ? {} : { body }) });
        const { error_code: found } = answer.json<{ error_code: number }>();
        expect([answer.status, found], `${method} ${path} ${JSON.stringify(body)} ${answer.text}`).to.deep.equal([
          status,
          code,
        ]);
        for (const id of [facts.dialogid, facts.other, facts.inviteid]) expect(answer.text).not.to.include(id);
        expect(answer.header('operation-id')).to.equal(undefined);
      };
      await refused('GET', `${base}/${facts.dialogid}`);
      for (const [method, body] of ON_A_DIALOG) {
        await refused(method, `${base}/${facts.dialogid}`, body(facts));
        await refused(method, `${base}/${facts.dialogid}`, body(facts), { dry_run: true });
        if (method !== 'DELETE')
          await refused('POST', `${base}/${facts.dialogid}!${method.toLowerCase()}`, body(facts));
        // The rest of the body must not match another leg or dialog.
        if (!['NOTIFY', 'SEND_DTMF', 'SETUP_ASR', 'SETUP_RECORD'].includes(method))
          await refused(method, base, { ...body(facts), dialogid: facts.dialogid });
      }
      for (const selector of SELECTORS) {
        if (selector === 'from' && (who === 'boss' || who === 'chief' || who === 'root')) continue;
        await refused('LOOKUP', base, { [selector]: facts[selector] });
        await refused('DELETE', base, { [selector]: facts[selector] });
      }
      await expectUntouched(set);
    });
  }

  it('lists show each user the own calls only', async () => {
    const { facts } = await scene();
    const ids = async (who: string, base: string) => {
      const answer = await client(who).get(base);
      return answer.status === 200
        ? answer.json<{ dialogid: string }[]>().map(({ dialogid }) => dialogid)
        : answer.status;
    };
    const both = [facts.other, facts.dialogid];
    expect(await ids('admin', CALLS)).to.deep.equal(both);
    expect(await ids('alice', OWN)).to.deep.equal(both);
    expect(await ids('bob', OWN)).to.deep.equal([facts.dialogid]);
    for (const who of ['dave', 'guest', 'zoe', 'boss', 'chief', 'root', 'admin'])
      expect(await ids(who, OWN), who).to.deep.equal([]);
    for (const who of ['boss', 'chief', 'root']) expect(await ids(who, CALLS), who).to.deep.equal([]);
    for (const who of ['guest', 'zoe']) expect(await ids(who, CALLS), who).to.equal(403);
    for (const base of [CALLS, OWN]) expect(await ids('anonymous', base)).to.equal(401);
  });

  it('with dry_run a participant may use every operation on own calls, and the administrator on all calls', async () => {
    const set = await scene();
    const { facts } = set;
    const hasSpeech = findPeer('pocketsphinx_continuous') !== undefined;
    for (const [who, base] of [
      ['alice', OWN],
      ['admin', CALLS],
    ] as const) {
      for (const [method, body] of ON_A_DIALOG) {
        // Refused without a speech engine.
        if (method === 'SETUP_ASR' && !hasSpeech) continue;
        const answer = await client(who).send(method, `${base}/${facts.dialogid}`, {
          body: body(facts),
          query: { dry_run: true },
        });
        // The conference is unknown, and the phone lists no events.
        const expected = method === 'REFERCONF' ? 404 : 200;
        const code = answer.json<{ error_code?: number }>().error_code;
        expect([answer.status, code], `${who} ${method} ${answer.text}`).to.deep.equal([
          expected,
          expected === 404 ? 1404 : undefined,
        ]);
      }
    }
    await expectUntouched(set);
  });

  it('the path of own calls finds no call of another user', async () => {
    const { facts } = await scene();
    const bob = client('bob');
    // The other dialog is alice's: it is no possible slave, and no match.
    const slave = await bob.send('REFERREPLACES', `${OWN}/${facts.dialogid}`, {
      body: { masterby: '102', slaveby: ALICE, slavedialogid: facts.other },
    });
    expect([slave.status, slave.json<{ error_code: number }>().error_code]).to.deep.equal([404, 1413]);
    expect((await bob.send('LOOKUP', OWN, { body: { sipuserlogin: 'alice' } })).json()).to.deep.equal([facts.dialogid]);
    const ambiguous = await client('alice').send('SWITCHCONF', OWN, { body: { sipuserlogin: 'alice' } });
    expect(ambiguous.status).to.equal(409);
    expect(ambiguous.json<{ error_details: { ids: string[] } }>().error_details.ids).to.deep.equal([
      facts.other,
      facts.dialogid,
    ]);
  });

  it('users start calls in their own name only', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const start = async (who: string, base: string, method: string, body: object, query = {}) => {
      const answer = await client(who).send(method, base, { body, query });
      return [answer.status, answer.json<{ error_code?: number }>().error_code];
    };
    const from = (number: string, more = {}) => ({ from: number, to: '104', ...more });
    const script = (to: string) => ({ to, scriptcode: 'echo' });
    for (const query of [{}, { dry_run: true }]) {
      for (const method of ['POST', 'INVITE']) {
        expect(await start('anonymous', CALLS, method, from('101'), query)).to.deep.equal([401, 1401]);
        expect(await start('anonymous', OWN, method, from('101'), query)).to.deep.equal([401, 1401]);
        for (const who of ['guest', 'zoe'])
          expect(await start(who, CALLS, method, from('101'), query)).to.deep.equal([403, 1401]);
        for (const body of [from('102'), from('bob', { mode: 'sipuser' }), from('101', { mode: 'sipuser' })])
          expect(await start('alice', OWN, method, body, query)).to.deep.equal([403, 1401]);
        // Zoe has alice's number in another domain, but another login.
        expect(await start('zoe', OWN, method, from('alice', { mode: 'sipuser' }), query)).to.deep.equal([403, 1401]);
        expect(await start('admin', OWN, method, from('101'), query)).to.deep.equal([403, 1401]);
      }
      expect(await start('anonymous', CALLS, 'INVITEBYIVR', script('101'), query)).to.deep.equal([401, 1401]);
      expect(await start('zoe', CALLS, 'INVITEBYIVR', script('101'), query)).to.deep.equal([403, 1401]);
      expect(await start('alice', OWN, 'INVITEBYIVR', script('102'), query)).to.deep.equal([403, 1401]);
      expect(await start('zoe', OWN, 'INVITEBYIVR', script('7101'), query)).to.deep.equal([403, 1401]);
      expect(await start('boss', OWN, 'INVITEBYIVR', script('101'), query)).to.deep.equal([403, 1401]);
    }
    expect([alice.waitingCalls, bob.waitingCalls]).to.deep.equal([0, 0]);
  });

  it('the same number is a different phone in each domain', async () => {
    const alice = await stage.phone('alice');
    const zoe = await domains.zoesPhone();
    const asked = client('boss').send('POST', CALLS, { body: { from: '101', to: '102', response_mode: 2 } });
    (await zoe.incoming()).reject(486);
    expect((await asked).json()).to.include({ result: 'rejected' });
    // In a call of zoe with bob, alice's number means alice.
    const bob = await stage.phone('bob');
    const outgoing = await zoe.call('7102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    for (const selector of [{ sipuserphonenumber: '101' }, { from: '101' }, { sipuserlogin: 'zoe' }]) {
      const answer = await client('admin').send('DELETE', CALLS, { body: selector });
      expect(answer.status, `${JSON.stringify(selector)} ${answer.text}`).to.equal(404);
    }
    await expectTalk(outgoing, incoming);
    const [mine, theirs] = [await client('admin').get(CALLS), await client('boss').get(CALLS)];
    expect(mine.json()).to.deep.equal(theirs.json());
    await outgoing.hangup();
    await incoming.ended();
    expect(alice.waitingCalls).to.equal(0);
    await zoe.stop();
  });

  it('the target of a transfer is a number in the domain of the transferring party', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const [zoe, yan] = [await domains.foreignPhone('zoe'), await domains.foreignPhone('yan')];
    // 102 is bob for demo.local, and yan for other.local.
    const talk = async () => {
      const outgoing = await alice.call('6101');
      const incoming = await zoe.incoming();
      await incoming.answer();
      await outgoing.answered();
      const [{ dialogid } = { dialogid: '' }] = await stage.dialogs();
      return { outgoing, incoming, dialogid };
    };
    const byRest = await talk();
    const asked = client('boss').send('REFER', `${CALLS}/${byRest.dialogid}`, {
      body: { by: '<sip:zoe@other.local>', referto: '102', response_mode: 4 },
    });
    const atYan = await yan.incoming();
    // Alice is shown with her own account.
    expect(atYan.header('From')).to.match(/sip:101@demo\.local/);
    await atYan.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await expectTalk(byRest.outgoing, atYan);
    await byRest.outgoing.hangup();
    await atYan.ended();
    const byPhone = await talk();
    const target = [{ name: 'Refer-To', value: '<sip:102@other.local>' }];
    expect((await byPhone.incoming.request('REFER', target)).status).to.equal(202);
    const again = await yan.incoming();
    await again.answer();
    await expectTalk(byPhone.outgoing, again);
    await byPhone.outgoing.hangup();
    await again.ended();
    const started = client('admin').send('POST', CALLS, { body: { from: '6101', to: '102', response_mode: 4 } });
    const first = await zoe.incoming();
    await first.answer();
    const atBob = await bob.incoming();
    await atBob.answer();
    expect((await started).json()).to.include({ result: 'ok' });
    await expectTalk(first, atBob);
    await first.hangup();
    await atBob.ended();
    expect([yan.waitingCalls, bob.waitingCalls, alice.waitingCalls]).to.deep.equal([0, 0, 0]);
    await Promise.all([zoe.stop(), yan.stop()]);
  });

  it('a party refused by the transfer target returns to the party that transferred it, also across domains', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const zoe = await domains.foreignPhone('zoe');
    // 101 is alice for demo.local, and zoe for other.local.
    const outgoing = await bob.call('6101');
    const incoming = await zoe.incoming();
    await incoming.answer();
    await outgoing.answered();
    const [{ dialogid } = { dialogid: '' }] = await stage.dialogs();
    const asked = client('admin').send('REFER', `${CALLS}/${dialogid}`, {
      body: { by: '<sip:zoe@other.local>', referto: '103', response_mode: 4 },
    });
    (await carol.incoming()).reject(486);
    expect((await asked).json()).to.include({ result: 'rejected' });
    await expectTalk(outgoing, incoming);
    // Also when the initiator is released at once and called back.
    const released = client('admin').send('REFER', `${CALLS}/${dialogid}`, {
      body: { by: '<sip:zoe@other.local>', referto: '103', response_mode: 4, hold_initiator: false },
    });
    const atCarol = await carol.incoming();
    await incoming.ended();
    atCarol.reject(486);
    const back = await zoe.incoming();
    await back.answer();
    expect((await released).json()).to.include({ result: 'rejected' });
    await expectTalk(outgoing, back);
    // Also by an administrator of the other domain.
    const again = (await stage.dialogs()).find(({ callids }) => callids.includes(outgoing.callId))?.dialogid;
    const other = client('boss').send('REFER', `${CALLS}/${again}`, {
      body: { by: '<sip:102@demo.local>', referto: '999', response_mode: 4, hold_initiator: false },
    });
    const atBob = await bob.incoming();
    await atBob.answer();
    expect((await other).json()).to.include({ result: 'rejected' });
    await expectTalk(back, atBob);
    await atBob.hangup();
    await back.ended();
    expect(alice.waitingCalls).to.equal(0);
    await zoe.stop();
  });

  it('TRANSCRIBE answers 404 for a recording of another domain, and is missing on the path of own calls', async () => {
    const body = { idconn: '0a1b2c3d-0000-4000-8000-000000000000', reclink: 'fs://main/demo.local/2026/01/01/x.wav' };
    for (const [who, base, statuses] of [
      ['anonymous', CALLS, [401]],
      ['guest', CALLS, [403]],
      ['zoe', CALLS, [403]],
      ['boss', CALLS, [404, 422]],
      ['alice', OWN, [405]],
      ['anonymous', OWN, [401]],
    ] as const) {
      expect((await client(who).send('TRANSCRIBE', base, { body })).status, `${who} ${base}`).to.be.oneOf(statuses);
    }
  });

  it('operation records are visible to the domain of the operation only', async () => {
    const alice = await stage.phone('alice');
    const asked = client('admin').send('POST', CALLS, { body: { from: '101', to: '102', response_mode: 2 } });
    (await alice.incoming()).reject(486);
    const id = (await asked).header('operation-id');
    const read = async (who: string) => (await client(who).get(`/rest/v1/uc/operations/${id}`)).status;
    expect(await read('admin')).to.equal(200);
    for (const who of ['boss', 'chief', 'root']) expect(await read(who), who).to.equal(404);
    for (const who of ['guest', 'zoe']) expect(await read(who), who).to.equal(403);
    expect(await read('anonymous')).to.equal(401);
  });

  it('call events reach the domains of the call only', async () => {
    const boss = await domains.events('boss', ['callevents', 'conferenceevents', 'asrevents']);
    const admin = await domains.events('admin', ['callevents']);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.hangup();
    await incoming.ended();
    const zoe = await domains.zoesPhone();
    const refused = await zoe.call('999');
    await refused.ended();
    expect((await admin.next()).data['from']).to.equal(ALICE);
    // The first event of the other domain is its own.
    expect((await boss.next()).data['from']).to.match(/^<sip:(101|zoe)@other\.local>$/);
    await zoe.stop();
  });

  it('a phone of another domain cannot join a call by naming its dialog', async () => {
    const { outgoing, incoming, ...rest } = await scene();
    const zoe = await domains.zoesPhone();
    const bobsCall = await zoe.call('7102', { headers: [{ name: 'Replaces', value: outgoing.replaces }] });
    expect((await bobsCall.ended()).status).to.equal(481);
    const zoes = await domains.foreignPhone('yan');
    const own = await zoe.call('102');
    const there = await zoes.incoming();
    await there.answer();
    await own.answered();
    const target = `<sip:103@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`;
    expect((await own.request('REFER', [{ name: 'Refer-To', value: target }])).status).to.equal(481);
    await expectTalk(own, there);
    await own.hangup();
    await there.ended();
    await expectUntouched({ outgoing, incoming, ...rest });
    await zoes.stop();
    await zoe.stop();
  });
});
