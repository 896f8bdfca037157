import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Phone } from '../../phones/phone.ts';
import { parseUri } from '../../phones/sip/address.ts';
import { CALLS, useStage } from '../../support/stage.ts';
import { expectTalk, referProgress } from '../expectations.ts';
import { TwoDomains } from '../two-domains.ts';
import { awaitRecords, HISTORY, OWN_HISTORY, recordsSince, type Shown } from './records.ts';

describe('the history of calls that go on elsewhere', () => {
  const stage = useStage({ ownNode: true });
  let from: number;
  beforeEach(() => {
    from = Date.now();
  });

  const records = async (count: number): Promise<Shown[]> => awaitRecords(await stage.rest(), from, count);
  const make = async (path: string, body: object): Promise<void> => {
    const answer = await (await stage.rest()).send('POST', `/rest/v1/domain/${path}`, { body });
    expect(answer.status, answer.text).to.equal(200);
  };

  it('a transfer is a chain of two calls, each shown to those who took part', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.request('REFER', [{ name: 'Refer-To', value: '<sip:103@demo.local>' }]);
    const arriving = await carol.incoming();
    await arriving.answer();
    await referProgress(outgoing);
    // The transfer is over when it has taken alice's call away.
    await outgoing.ended();
    await incoming.hangup();
    await arriving.ended();
    const [first, second] = await records(2);
    expect(first).to.include({ result: 'answered', ended_by: 'transfer', caller_number: '101', called_number: '102' });
    expect(second).to.include({ result: 'answered', caller_number: '102', called_number: '103', ended_by: 'caller' });
    expect([first?.replaced, first?.replaced_by]).to.deep.equal([[], [second?.id]]);
    expect([second?.replaced, second?.replaced_by]).to.deep.equal([[first?.id], []]);
    expect(second?.['referred_by']).to.match(/sip:alice@demo\.local|sip:101@demo\.local/);
    expect(
      second?.legs.map(({ sip_status: status }) => status),
      'the phone that stays has no new answer',
    ).to.deep.equal([null, 200]);
    const hasMedia = (record?: Shown) => record?.legs.map(({ media }) => media !== null);
    expect(hasMedia(first), 'the leg that goes on has its figures at its end').to.deep.equal([true, false]);
    expect(hasMedia(second)).to.deep.equal([true, true]);
    const seen = async (login: string) =>
      (await recordsSince(await stage.rest(login), from, OWN_HISTORY)).map(({ id }) => id);
    expect(await seen('alice')).to.deep.equal([first?.id]);
    expect(await seen('carol')).to.deep.equal([second?.id]);
    expect(await seen('bob')).to.deep.equal([first?.id, second?.id]);
  });

  it('a refused transfer is an attempt of its own, and the first call goes on', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.request('REFER', [{ name: 'Refer-To', value: '<sip:103@demo.local>' }]);
    (await carol.incoming()).reject(486);
    await referProgress(outgoing);
    await expectTalk(outgoing, incoming);
    await incoming.hangup();
    const [first, second] = await records(2);
    expect(first).to.include({ result: 'answered', ended_by: 'called' }).and.deep.include({ replaced_by: [] });
    expect(second).to.include({ result: 'busy', caller_number: '102', called_number: '103', sip_status: 486 });
  });

  it('a pickup replaces the call of the phone that dialled it', async () => {
    await make('featurecodes', { prefix: '*9', type: 'pickup' });
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const outgoing = await alice.call('102');
    const ringing = await bob.incoming();
    ringing.ring();
    await outgoing.ringing();
    const picker = await carol.call('*9102');
    await Promise.all([picker.answered(), outgoing.answered()]);
    await picker.hangup();
    const [taken, dialled] = await records(2);
    expect(taken).to.include({ result: 'answered', dialled: '102', called_number: '103', called_login: 'carol' });
    expect(dialled).to.include({ result: 'replaced', ended_by: 'transfer', dialled: '*9102' });
    expect(taken?.replaced).to.deep.equal([dialled?.id]);
    expect(dialled?.replaced_by).to.deep.equal([taken?.id]);
    const legs = taken?.legs.map(({ login, sip_status: status, reason }) => [login, status, reason]);
    expect(legs?.slice(0, 2)).to.deep.equal([
      ['alice', 200, 'OK'],
      ['bob', null, 'Call completed elsewhere'],
    ]);
  });

  it('names the conference, and the room', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('*704711');
    await call.answered();
    const answer = await (await stage.rest()).get('/rest/v1/uc/conferences');
    const [{ confid } = { confid: '' }] = answer.json<{ confid: string }[]>();
    await call.hangup();
    const [record] = await records(1);
    expect(record).to.include({
      result: 'answered',
      confid,
      room: '4711',
      called_number: '*704711',
      dialled: '*704711',
    });
    expect(record?.legs.map(({ kind }) => kind)).to.deep.equal(['sipuser', 'conference']);
  });

  it('names the run of a scenario, also of a call that the scenario places', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const source = `id: ring102
start: pick_up
blocks:
  pick_up:
    answer:
    next: other
  other:
    leg: second
    call: { to: "102" }
    exits: { answered: end, busy: end, no_answer: end, refused: end }
`;
    await writeFile(join(folder, 'ring102.yaml'), source);
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('*55ring102');
    (await bob.incoming()).reject(486);
    await call.ended();
    const [first, second] = await records(2);
    const runs = (await (await stage.rest()).get('/rest/v1/api/runs')).json<{ id: string }[]>();
    const expected = [{ id: runs.at(-1)?.id, scenario: 'ring102' }];
    expect(first).to.deep.include({ runs: expected, dialled: '*55ring102', result: 'answered', operation: null });
    expect(second).to.deep.include({ runs: expected, dialled: '102', result: 'busy' });
    expect(first?.legs.map(({ kind, sip_status: status }) => [kind, status])).to.deep.equal([
      ['sipuser', 200],
      ['ivr', null],
    ]);
  });

  it('names the operation, and the labels', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const asked = stage.operate('POST', { from: '101', to: '102', response_mode: 4, binding: 'ticket-1' });
    await (await alice.incoming()).answer();
    const called = await bob.incoming();
    await called.answer();
    const answer = await asked;
    const operation = answer.header('operation-id');
    await called.hangup();
    const [first, second] = await records(2);
    expect(operation).to.be.a('string').and.not.equal('');
    expect(first).to.deep.include({ operation, runs: [], called_number: '101', ended_by: 'transfer' });
    expect(second).to.deep.include({ operation, caller_number: '101', called_number: '102', labels: ['ticket-1'] });
    expect(second?.replaced).to.deep.equal([first?.id]);
  });

  it('an operation that ends a call is told from its parties', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    await (await stage.rest()).send('DELETE', `${CALLS}/${dialogid}`);
    await outgoing.ended();
    const [record] = await records(1);
    expect(record).to.include({ result: 'answered', ended_by: 'external' });
  });

  it('names the recordings of the domain', async () => {
    await make('recordingrules', { record: true });
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    outgoing.play(440);
    await incoming.hears(440);
    await outgoing.hangup();
    const [record] = await records(1);
    const saved = (await (await stage.rest()).get('/rest/v1/domain/recordings')).json<{ id: string }[]>();
    expect(record).to.deep.include({ recordings: saved.map(({ id }) => id) });
    expect(saved).to.have.length(1);
  });

  it('shows trunk and direction of calls over a provider, also of refused ones', async () => {
    const outside = await Phone.start({ login: '0030123456', domain: 'demo.local', registrar: stage.node.sip });
    try {
      const { host, port } = parseUri(outside.contact);
      await make('providers', { code: 'operator', host, port, numbers: ['102'] });
      await make('routes', { to_pattern: '00%', target: { type: 'provider', code: 'operator' } });
      const [alice, bob] = await stage.phones('alice', 'bob');
      const out = await stage.connect(alice, outside, '0030123456');
      await out.outgoing.hangup();
      const come = await stage.connect(outside, bob, '102');
      await come.outgoing.hangup();
      await (await outside.call('109')).refused();
      const [first, second, third] = await records(3);
      expect(first).to.include({ direction: 'outbound', trunk: 'operator', called_number: '0030123456' });
      expect(second).to.include({ direction: 'inbound', trunk: 'operator', caller_number: '0030123456' });
      expect(third).to.include({ direction: 'inbound', trunk: 'operator', result: 'unknown_number', dialled: '109' });
    } finally {
      await outside.stop();
    }
  });

  it('gives the leg to a provider that cannot be reached the status that the caller got', async () => {
    const gone = await Phone.start({ login: '0930123456', domain: 'demo.local', registrar: stage.node.sip });
    const { host, port } = parseUri(gone.contact);
    await gone.stop();
    await make('providers', { code: 'gone', host, port });
    await make('routes', { to_pattern: '09%', target: { type: 'provider', code: 'gone' } });
    const alice = await stage.phone('alice');
    expect((await (await alice.call('0930123456')).refused()).status).to.equal(503);
    const [record] = await records(1);
    expect(record).to.include({ trunk: 'gone', result: 'failed', sip_status: 503 });
    expect(record?.legs.map(({ side, sip_status: status }) => [side, status])).to.deep.equal([
      ['a', 503],
      ['b', 503],
    ]);
  });

  it('gives the leg to a phone that cannot be reached 480, and the call stays unreachable', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await bob.disconnect();
    expect((await (await alice.call('102')).refused()).status).to.equal(480);
    const [record] = await records(1);
    expect(record).to.include({ result: 'unreachable', sip_status: 480 });
    expect(record?.legs.map(({ side, sip_status: status }) => [side, status])).to.deep.equal([
      ['a', 480],
      ['b', 480],
    ]);
  });

  it('a call between two domains is in both, without what only the other may see', async () => {
    const domains = await TwoDomains.make(stage.node);
    const { boss, zoe: zoesClient } = domains.clients;
    if (boss === undefined || zoesClient === undefined) throw new Error('no session');
    const zoe = await domains.zoesPhone();
    try {
      const alice = await stage.phone('alice');
      const { outgoing } = await stage.connect(alice, zoe, '6101');
      await outgoing.hangup();
      const [here] = await records(1);
      const [there] = await awaitRecords(boss, from, 1);
      expect(here?.id).to.equal(there?.id);
      expect(here).to.include({
        direction: 'outbound',
        caller_login: 'alice',
        called_login: null,
        called_number: '101',
      });
      expect(there).to.include({ direction: 'inbound', caller_login: null, caller_user_id: null, called_login: 'zoe' });
      expect(here?.users).to.have.length(1).and.to.not.deep.equal(there?.users);
      expect(there?.legs.map(({ domain, login }) => [domain, login])).to.deep.equal([
        ['demo.local', null],
        ['other.local', 'zoe'],
      ]);
      expect((await recordsSince(zoesClient, from, OWN_HISTORY)).map(({ id }) => id)).to.deep.equal([here?.id]);
      expect((await boss.get(`${HISTORY}/${here?.id}`)).status).to.equal(200);
    } finally {
      await zoe.stop();
      for (const client of Object.values(domains.clients)) client.close();
    }
  });
});
