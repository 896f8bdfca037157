import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

const OWN = '/rest/v1/user/sip/calls';
const REST = '/rest/v1';
const CONFERENCES = '/rest/v1/uc/conferences';

describe('two domains on one node', () => {
  const stage = useStage({ ownNode: true });
  let foreign: RestClient;
  let zoe: Phone;

  async function create(rest: RestClient, path: string, body: object): Promise<Record<string, string>> {
    const answer = await rest.send('POST', `${REST}${path}`, { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Record<string, string>>();
  }

  before('make the second one, with routes both ways', async () => {
    const rest = await stage.node.login('admin');
    const moved = await rest.send('PATCH', `${REST}/iam/sessions/current`, { body: { domain: 'master' } });
    expect(moved.status, moved.text).to.equal(200);
    const [home] = (
      await rest.get(`${REST}/domain/domains?filter=${encodeURIComponent('{"name":"demo.local"}')}`)
    ).json<{ id: string }[]>();
    const { id } = await create(rest, '/domain/domains', { name: 'other.local' });
    const user = { domain_id: id, login: 'zoe', name: 'Zoe', pwd: 'demo-zoe', roles: ['admin'] };
    const { id: owner } = await create(rest, '/iam/users', user);
    await create(rest, '/domain/sipusers', {
      domain_id: id,
      login: 'zoe',
      phonenumber: '101',
      pwd: 'demo-zoe',
      user_id: owner,
    });
    const target = (domain: string) => ({ type: 'domain', domain, strip: 1 });
    await create(rest, '/domain/routes', { domain_id: home?.id, to_pattern: '6%', target: target('other.local') });
    await create(rest, '/domain/routes', { domain_id: id, to_pattern: '7%', target: target('demo.local') });
    await create(rest, '/iam/users', { domain_id: home?.id, login: 'guest', name: 'Guest', pwd: 'demo-guest' });
    rest.close();
    foreign = await RestClient.login(stage.node.base, { domain: 'other.local', login: 'zoe', pwd: 'demo-zoe' });
  });
  after(() => foreign.close());

  beforeEach(async () => {
    zoe = await Phone.start({ login: 'zoe', domain: 'other.local', password: 'demo-zoe', registrar: stage.node.sip });
    expect((await zoe.register()).status).to.equal(200);
  });
  afterEach(async () => {
    const { violations } = zoe;
    await zoe.stop();
    expect(violations).to.deep.equal([]);
  });

  it('show each their own registered contacts only', async () => {
    await stage.phone('alice');
    const logins = async (rest: RestClient) =>
      (await rest.get(`${REST}/domain/registrations`)).json<{ login: string }[]>().map(({ login }) => login);
    expect(await logins(foreign)).to.deep.equal(['zoe']);
    expect(await logins(await stage.rest()))
      .to.include('alice')
      .and.not.to.include('zoe');
  });

  it('call each other by routes; both domains see the call, and no third one', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    for (const there of [true, false]) {
      const [from, to, dialled] = there ? [alice, zoe, '6101'] : [zoe, alice, '7101'];
      const outgoing = await from.call(dialled);
      const incoming = await to.incoming();
      await incoming.answer();
      await outgoing.answered();
      await expectTalk(outgoing, incoming);
      const { dialogid } = await stage.dialog();
      expect((await foreign.get(CALLS)).json<{ dialogid: string }[]>().map((each) => each.dialogid)).to.deep.equal([
        dialogid,
      ]);
      expect((await (await stage.rest('bob')).get(OWN)).json()).to.deep.equal([]);
      await outgoing.hangup();
      await incoming.ended();
    }
    expect(bob.waitingCalls).to.equal(0);
    expect(await (await alice.call('6999')).refused()).to.include({ status: 404 });
  });

  it('neither sees nor changes the calls of the other', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid, acallid } = await stage.dialog();
    const carol = await stage.rest('carol');
    const guest = await stage.rest('guest');
    const by = '<sip:alice@demo.local>';
    const operations: readonly (readonly [method: string, body: object])[] = [
      ['GET', {}],
      ['REFER', { by, referto: '103' }],
      ['REFERREPLACES', { masterby: by, slaveby: by, slavedialogid: dialogid }],
      ['SWITCHCONF', {}],
      ['REFERCONF', { by, referconfroomnum: '1' }],
      ['NOTIFY', { callid: acallid, event: 'talk' }],
      ['SEND_DTMF', { side: 'a', dtmf: '1' }],
      ['SETUP_RECORD', { command: 'pause' }],
      ['SETUP_BINDINGS', { command: 'get' }],
      ['STOP_HOLD_MELODY', {}],
      ['DELETE', {}],
    ];
    for (const [method, body] of operations) {
      const send = (rest: RestClient, base: string) =>
        rest.send(method, `${base}/${dialogid}`, method === 'GET' ? {} : { body });
      for (const [who, rest, base] of [
        ['a user who takes no part', carol, OWN],
        ['another domain', foreign, CALLS],
        ['another domain, own calls', foreign, OWN],
      ] as const) {
        const answer = await send(rest, base);
        expect([answer.status, answer.json<{ error_code: number }>().error_code], `${method} by ${who}`).to.deep.equal([
          404, 1413,
        ]);
      }
      const nobody = new RestClient(stage.node.base);
      expect((await send(nobody, CALLS)).status, `${method} without a session`).to.equal(401);
      nobody.close();
      expect((await send(guest, CALLS)).status, `${method} without a role`).to.equal(403);
      expect((await send(carol, CALLS)).status, `${method} by a user, domain-wide`).to.equal(403);
    }
    await expectTalk(outgoing, incoming);
    expect((await stage.dialog()).dialogid).to.equal(dialogid);
  });

  it('start calls of their own only', async () => {
    const alice = await stage.phone('alice');
    for (const body of [
      { from: 'alice', mode: 'sipuser', to: '102' },
      { from: '102', to: '101' },
    ]) {
      const answer = await foreign.send('POST', OWN, { body });
      expect([answer.status, answer.json<{ error_code: number }>().error_code]).to.deep.equal([403, 1401]);
    }
    const asked = foreign.send('POST', OWN, { body: { from: '101', to: '7101', response_mode: 4 } });
    const x = await zoe.incoming();
    await x.answer();
    const y = await alice.incoming();
    await y.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await expectTalk(x, y);
    await x.hangup();
    await y.ended();
  });

  it('keep conferences apart: a domain cannot list, name or enter those of the other', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const room = await alice.call('*707701');
    await room.answered();
    const rest = await stage.rest();
    const [{ confid, uri }] = (await rest.get(CONFERENCES)).json<[{ confid: string; uri: string }]>();
    for (const base of [CONFERENCES, `${CONFERENCES}_by_participation`]) {
      expect((await foreign.get(base)).json()).to.deep.equal([]);
      expectError(await foreign.get(`${base}/${confid}`), 404, 1404);
      expectError(await foreign.send('LOOKUP', base, { body: { confroomnum: '7701' } }), 404, 1404);
      expectError(await foreign.send('POST', `${base}/${confid}/participants`, { body: { to: '101' } }), 404, 1404);
      expectError(await foreign.send('POST', `${base}/${confid}/topology`, { body: [] }), 404, 1404);
      expectError(await foreign.send('DELETE', `${base}/${confid}`), 404, 1404);
    }
    // A call visible to both domains, and a room of one of them.
    const outgoing = await zoe.call('7102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    const dialog = (await stage.dialogs()).find(({ acallid }) => acallid === outgoing.callId);
    for (const base of [CALLS, OWN]) {
      for (const [field, value] of [
        ['referconfid', confid],
        ['referconfuri', uri],
      ] as const) {
        const refused = await foreign.send('REFERCONF', `${base}/${dialog?.dialogid ?? ''}`, {
          body: { by: '<sip:101@other.local>', [field]: value, response_mode: 4 },
        });
        expect(expectError(refused, 422, 1405).error_details?.field).to.equal(field);
      }
    }
    await expectTalk(outgoing, incoming);
    expect((await rest.get(`${CONFERENCES}/${confid}/participants?countonly=true`)).json()).to.deep.equal({ count: 1 });
    // The conference's own domain may do it, also for the party of the other domain.
    const brought = await rest.send('REFERCONF', `${CALLS}/${dialog?.dialogid ?? ''}`, {
      body: { by: '<sip:102@demo.local>', referconfid: confid, response_mode: 4 },
    });
    expect(brought.json(), brought.text).to.include({ result: 'ok' });
    await expectTalk(room, outgoing);
    await outgoing.hangup();
  });
});
