import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { REAL_MEDIA } from '../../support/real-servers.ts';
import { expectTalk } from '../expectations.ts';
import { useStage } from '../../support/stage.ts';
import { awaitRecords, HISTORY, OWN_HISTORY, recordsSince, type Shown } from './records.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the history of calls', () => {
  const stage = useStage();
  let from: number;
  beforeEach(() => {
    from = Date.now();
  });

  const only = async (): Promise<Shown> => {
    const [record] = await awaitRecords(await stage.rest(), from, 1);
    if (record === undefined) throw new Error('no record');
    return record;
  };
  const legsOf = ({ legs }: Shown) =>
    legs.map(({ side, number, login, sip_status: status, reason }) => [side, number, login, status, reason]);

  it('has parties, times and legs of an answered call', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { inviteid, dialogid } = (await stage.dialog()) as unknown as { inviteid: string; dialogid: string };
    await outgoing.hangup();
    const record = await only();
    expect(record).to.include({
      id: inviteid,
      dialogid,
      direction: 'internal',
      caller_number: '101',
      caller_name: 'Alice',
      caller_domain: 'demo.local',
      caller_login: 'alice',
      called_number: '102',
      called_name: 'Bob',
      called_domain: 'demo.local',
      called_login: 'bob',
      dialled: '102',
      result: 'answered',
      sip_status: 200,
      ended_by: 'caller',
      trunk: null,
      confid: null,
      operation: null,
    });
    const times = [record.started, record.ringing, record.answered, record.ended] as string[];
    for (const time of times) expect(time).to.match(ISO);
    expect(times.toSorted()).to.deep.equal(times);
    expect(record.ts).to.equal(Date.parse(record.started));
    expect(record.talking_ms).to.equal(Date.parse(times[3] ?? '') - Date.parse(times[2] ?? ''));
    expect(record.ringing_ms).to.equal(Date.parse(times[2] ?? '') - Date.parse(times[1] ?? ''));
    expect(record.users).to.have.length(2);
    expect(legsOf(record)).to.deep.equal([
      ['a', '101', 'alice', 200, 'OK'],
      ['b', '102', 'bob', 200, 'OK'],
    ]);
    for (const { media } of record.legs) expect(media).to.include({ codec: 'PCMU', lost_out: null });
  });

  it('has lost packets and jitter of each leg, and none of a leg without sound', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    const before = incoming.rtp().received;
    outgoing.impairSound((number) => (number % 20 === 7 ? 'lost' : number % 10 === 3 ? 60 : 0));
    await eventually(async () => expect(incoming.rtp().received).to.be.at.least(before + 95), 20_000);
    await outgoing.hangup();
    const refused = await alice.call('103');
    (await carol.incoming()).reject(486);
    await refused.refused();
    const [talk, busy] = await awaitRecords(await stage.rest(), from, 2);
    const [a, b] = talk?.legs.map(({ media }) => media) ?? [];
    expect(a?.packets_in).to.be.at.least(95);
    expect(a?.packets_out).to.be.at.least(95);
    // FreeSWITCH adds several for each gap and each late packet.
    expect(a?.lost_in).to.be.within(5, REAL_MEDIA ? 300 : 40);
    expect(a?.jitter_ms_in).to.be.within(5, 500);
    expect(a?.mos_in).to.be.within(1, 4.49);
    expect(b?.packets_in).to.be.at.least(95);
    expect(b?.lost_in).to.be.below(a?.lost_in ?? 0);
    expect(busy?.legs.map(({ side, media }) => [side, media?.packets_in ?? 0])).to.deep.equal([
      ['a', 0],
      ['b', 0],
    ]);
  });

  for (const [status, result] of [
    [486, 'busy'],
    [600, 'busy'],
    [603, 'rejected'],
    [403, 'rejected'],
    [480, 'no_answer'],
    [404, 'unknown_number'],
    [500, 'failed'],
  ] as const) {
    it(`a phone's refusal with ${status} is ${result}`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const call = await alice.call('102');
      (await bob.incoming()).reject(status);
      const { reason } = await call.refused();
      const record = await only();
      expect(record).to.include({ result, sip_status: status, answered: null, talking_ms: null, ended_by: 'failure' });
      expect(legsOf(record)).to.deep.equal([
        ['a', '101', 'alice', status, reason],
        ['b', '102', 'bob', status, reason],
      ]);
    });
  }

  it('a call that its caller gives up is cancelled', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    (await bob.incoming()).ring();
    await call.ringing();
    await call.cancel();
    const record = await only();
    expect(record).to.include({ result: 'cancelled', ended_by: 'caller', sip_status: 487, talking_ms: null });
    expect(record.ringing).to.match(ISO);
    expect(record.ringing_ms).to.be.at.least(0);
    expect(legsOf(record)[1]).to.deep.equal(['b', '102', 'bob', null, 'CANCEL']);
  });

  it('a phone that rings too long is no_answer, one that is not registered unreachable', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const ringing = stage.operate('POST', { from: '102', to: '101', calltimeout: 1, response_mode: 2 });
    await bob.incoming();
    await ringing;
    const first = await only();
    expect(first).to.include({ result: 'no_answer', sip_status: 408, called_login: 'bob' });
    expect(legsOf(first)[1]).to.deep.equal(['b', '102', 'bob', null, 'Request Timeout']);
    await (await alice.call('104')).refused();
    const [, second] = await awaitRecords(await stage.rest(), from, 2);
    expect(second).to.include({ result: 'unreachable', sip_status: 480, called_number: '104', dialled: '104' });
    expect(second?.legs).to.have.length(1);
  });

  it('an unknown number is told from an absent phone', async () => {
    const alice = await stage.phone('alice');
    await (await alice.call('999')).refused();
    expect(await only()).to.include({
      result: 'unknown_number',
      sip_status: 404,
      called_number: '999',
      called_login: null,
    });
  });

  it('is filtered, ordered, masked, counted and read as every collection', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const refused = await alice.call('102');
    (await bob.incoming()).reject(486);
    await refused.refused();
    const { outgoing } = await stage.connect(bob, alice, '101');
    await outgoing.hangup();
    const [busy, answered] = await awaitRecords(await stage.rest(), from, 2);
    const rest = await stage.rest();
    const interval = JSON.stringify([from, Date.now() + 60_000]);
    const get = async (query: Record<string, string>) => (await rest.get(HISTORY, { interval, ...query })).json();
    expect(await get({ filter: '{"result":"busy"}', mask: 'caller_number,legs.sip_status' })).to.deep.equal([
      { caller_number: '101', legs: [{ sip_status: 486 }, { sip_status: 486 }] },
    ]);
    expect(await get({ filter: '{"legs.sip_status":486}', mask: 'id' })).to.deep.equal([{ id: busy?.id }]);
    expect(await get({ mask: 'id' }), 'newest first').to.deep.equal([{ id: answered?.id }, { id: busy?.id }]);
    expect(await get({ order: '["ts"]', limit: '1', mask: 'id' })).to.deep.equal([{ id: busy?.id }]);
    expect(await get({ limit: '0' })).to.deep.equal({ count: 2 });
    expect(await get({ aggr: '{"n":["count"]}', groupby: '{"result":"result"}', order: '["result"]' })).to.deep.equal([
      { result: 'answered', n: 1 },
      { result: 'busy', n: 1 },
    ]);
    const csv = await rest.get(HISTORY, { interval, format: 'csv', mask: 'id,caller_name,result', order: '["ts"]' });
    expect(csv.header('content-type')).to.match(/^text\/csv/);
    expect(csv.text).to.equal(`id,caller_name,result\r\n${busy?.id},Alice,busy\r\n${answered?.id},Bob,answered\r\n`);
    const one = await rest.get(`${HISTORY}/${busy?.id}`, { mask: 'result' });
    expect(one.json()).to.deep.equal({ result: 'busy' });
    expect((await rest.get(`${HISTORY}/nothing`)).status).to.equal(404);
    expect((await rest.get(HISTORY, { fitler: '{}' })).status).to.equal(400);
    // Without an interval: the last day.
    const latest = (await rest.get(HISTORY, { limit: '1', mask: 'id' })).json();
    expect(latest).to.deep.equal([{ id: answered?.id }]);
  });

  it('a user sees own calls only, also those that rang in vain', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing } = await stage.connect(alice, bob, '102');
    await outgoing.hangup();
    const missed = await alice.call('103');
    (await carol.incoming()).ring();
    await missed.ringing();
    await missed.cancel();
    const [first, second] = await awaitRecords(await stage.rest(), from, 2);
    const seen = async (login: string) => recordsSince(await stage.rest(login), from, OWN_HISTORY);
    expect((await seen('bob')).map(({ id }) => id)).to.deep.equal([first?.id]);
    expect((await seen('carol')).map(({ id, result }) => [id, result])).to.deep.equal([[second?.id, 'cancelled']]);
    expect((await seen('alice')).map(({ id }) => id)).to.deep.equal([first?.id, second?.id]);
    const bobs = await stage.rest('bob');
    expect((await bobs.get(`${OWN_HISTORY}/${first?.id}`)).status).to.equal(200);
    expect((await bobs.get(`${OWN_HISTORY}/${second?.id}`)).status).to.equal(404);
    expect((await bobs.get(HISTORY)).status, 'calls of the domain are for administrators').to.equal(403);
    const all = '["or",["==",["property","result"],"cancelled"],true]';
    const interval = JSON.stringify([from, Date.now()]);
    const tricked = await bobs.get(OWN_HISTORY, { interval, filter: all, mask: 'id' });
    expect(tricked.json(), tricked.text).to.deep.equal([{ id: first?.id }]);
  });

  it('nobody writes it by hand', async () => {
    const rest = await stage.rest();
    const body = { id: 'x' };
    const written = await rest.send('POST', '/rest/v1/model/callhistory', { body });
    expect([written.status, written.json<{ error_code: number }>().error_code], written.text).to.deep.equal([
      422, 1405,
    ]);
    const made = await rest.send('POST', '/rest/v1/domain/classes', {
      body: { classname: 'callhistory', storage_mode: 'category', properties: [] },
    });
    expect(made.status, made.text).to.equal(422);
    const classes = (await rest.get('/rest/v1/domain/classes')).json<{ classname: string }[]>();
    expect(classes.map(({ classname }) => classname)).to.not.include('callhistory');
  });
});
