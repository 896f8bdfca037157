import { expect } from 'chai';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';

const DOMAIN_WIDE = '/rest/v1/uc/operations';
const OWN = '/rest/v1/user/sip/operations';
const OWN_CALLS = '/rest/v1/user/sip/calls';

type OperationRecord = Readonly<Record<string, unknown>>;

describe('records of operations', () => {
  const stage = useStage();

  /** Starts a call that is answered immediately; returns the id of the operation. */
  async function begin(login: string, base: string, body: object): Promise<string> {
    const answer = await (await stage.rest(login)).send('POST', base, { body: { response_mode: 0, ...body } });
    expect(answer.status, answer.text).to.equal(200);
    return answer.header('operation-id') ?? '';
  }

  async function over(id: string): Promise<OperationRecord> {
    const rest = await stage.rest();
    return eventually(async () => {
      const record = (await rest.get(`${DOMAIN_WIDE}/${id}`)).json<OperationRecord>();
      expect(record).to.have.property('endts');
      return record;
    });
  }

  interface Told {
    readonly type: string;
    readonly class: string;
    readonly data: OperationRecord;
  }

  /** Events that an administrator is told from now on. */
  async function subscribe(...events: string[]): Promise<{ socket: WebSocket; told: Told[] }> {
    const { token, base } = await stage.rest();
    const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } });
    const told: Told[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, Told];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') told.push(body);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify(['subscribe', { qid: '1', id: 'finished', events, expires: 60 }]));
    await subscribed.promise;
    return { socket, told };
  }

  it('contain the outcome of the operation, also after an earlier answer', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const refusedByX = await begin('admin', CALLS, { from: '101', to: '102' });
    (await alice.incoming()).reject(486);
    const first = await over(refusedByX);
    expect(first['response']).to.deep.include({ result: 'ok' });
    const { ivrcallid } = first['response'] as { ivrcallid: string };
    expect(first).to.deep.include({
      outcome: 'completed',
      result: 'rejected',
      fields: { result: 'rejected', ivrcallid, sip_status: 486, reason: 'Busy Here' },
    });

    const refusedByY = await begin('admin', CALLS, { from: '101', to: '102' });
    const x = await alice.incoming();
    await x.answer();
    (await bob.incoming()).reject(603);
    await x.ended();
    const second = await over(refusedByY);
    expect(second['result']).to.equal('rejected');
    expect((second['fields'] as OperationRecord)['last_response']).to.match(/^SIP\/2.0 603 /);

    const connected = await begin('admin', CALLS, { from: '101', to: '102' });
    const again = await alice.incoming();
    await again.answer();
    const y = await bob.incoming();
    await y.answer();
    const third = await over(connected);
    const { dialogid, acallid } = await stage.dialog();
    expect(third['result']).to.equal('ok');
    expect(third['fields']).to.deep.include({ result: 'ok', dialogid, acallid, last_response: 'SIP/2.0 200 OK' });
    await y.hangup();
  });

  it('contain the outcome of INVITEBYIVR and of operations without response modes', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const rest = await stage.rest();
    const asked = await rest.send('INVITEBYIVR', CALLS, { body: { to: '101', scriptcode: 'echo', response_mode: 0 } });
    (await alice.incoming()).reject(480);
    const refused = await over(asked.header('operation-id') ?? '');
    expect(refused['result']).to.equal('rejected');
    expect(refused['fields']).to.deep.include({ result: 'rejected', sipcode: 480 });

    await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const labelled = await rest.send('SETUP_BINDINGS', `${CALLS}/${dialogid}`, {
      body: { command: 'add', label: 'a' },
    });
    const record = await over(labelled.header('operation-id') ?? '');
    expect(record).to.deep.include({ result: 'ok', fields: labelled.json() });
    const manyDigits = { side: 'a', dtmf: '1'.repeat(128) };
    const answers = [];
    for (let times = 0; times < 5; times += 1)
      answers.push(await rest.send('SEND_DTMF', `${CALLS}/${dialogid}`, { body: manyDigits }));
    const last = answers.at(-1);
    expect(last?.status, 'no more digits can wait').to.equal(422);
    const impossible = await over(last?.header('operation-id') ?? '');
    expect(impossible).to.deep.include({ outcome: 'failed', result: 'error', fields: {} });
    const ended = await rest.send('DELETE', `${CALLS}/${dialogid}`);
    expect(await over(ended.header('operation-id') ?? '')).to.deep.include({ result: 'ok', fields: { dialogid } });
  });

  it('are listed with filter, order, mask, limit and count', async () => {
    const alice = await stage.phone('alice');
    const ids: string[] = [];
    for (const status of [486, 480]) {
      ids.push(await begin('admin', CALLS, { from: '101', to: '102', callername: 'Lists' }));
      (await alice.incoming()).reject(status);
    }
    for (const id of ids) await over(id);
    const rest = await stage.rest();
    const among = JSON.stringify({ id: ids.join('|'), result: 'rejected' });
    const list = async (query: Readonly<Record<string, string | number | boolean>>) =>
      (await rest.get(DOMAIN_WIDE, { filter: among, ...query })).json<readonly OperationRecord[]>();
    expect(
      (await list({})).map(({ id }) => id),
      'oldest first',
    ).to.deep.equal(ids);
    const order = JSON.stringify([{ startts: 'desc' }]);
    expect((await list({ order })).map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(await list({ order, mask: 'id,fields.result', limit: 1 })).to.deep.equal([
      { id: ids[1], fields: { result: 'rejected' } },
    ]);
    expect(await list({ offset: 1, mask: 'operation,result' })).to.deep.equal([
      { operation: 'invite', result: 'rejected' },
    ]);
    expect(await list({ countonly: true })).to.deep.equal({ count: 2 });
    const one = await rest.get(`${DOMAIN_WIDE}/${ids[0]}`, { mask: 'id,result' });
    expect(one.json()).to.deep.equal({ id: ids[0], result: 'rejected' });
    expect((await rest.get(DOMAIN_WIDE, { filter: '["nonsense"]' })).status).to.equal(400);
  });

  it('on the path of own operations are visible to their user only', async () => {
    const alice = await stage.phone('alice');
    const mine = await begin('alice', OWN_CALLS, { from: '101', to: '102' });
    (await alice.incoming()).reject(486);
    const admins = await begin('admin', CALLS, { from: '101', to: '102' });
    (await alice.incoming()).reject(486);
    const { userid } = await over(mine);
    await over(admins);
    const own = await stage.rest('alice');
    const info = (await own.get('/rest/v1/user/info')).json<{ id: string }>();
    expect(userid).to.equal(info.id);
    const read = await own.get(`${OWN}/${mine}`);
    expect([read.status, read.json<OperationRecord>()['result']]).to.deep.equal([200, 'rejected']);
    const listed = (await own.get(OWN, { order: '[{"startts":"desc"}]' })).json<readonly OperationRecord[]>();
    expect(listed[0]?.['id']).to.equal(mine);
    expect(new Set(listed.map((record) => record['userid']))).to.deep.equal(new Set([userid]));
    for (const [login, id] of [
      ['alice', admins],
      ['bob', mine],
      ['admin', mine],
    ] as const) {
      const foreign = await (await stage.rest(login)).get(`${OWN}/${id}`);
      expect([foreign.status, foreign.json<OperationRecord>()['error_code']], `${login} ${id}`).to.deep.equal([
        404, 1404,
      ]);
    }
    const bobs = (await (await stage.rest('bob')).get(OWN)).json<readonly OperationRecord[]>();
    expect(bobs.map(({ id }) => id)).to.not.include(mine);
  });

  it('are reported by the event operation_finished to the domain of the operation', async () => {
    const alice = await stage.phone('alice');
    const { socket, told } = await subscribe('callevents.operation_finished', 'callevents.call_init');
    const id = await begin('alice', OWN_CALLS, { from: '101', to: '102' });
    (await alice.incoming()).reject(486);
    await eventually(async () => expect(told).to.have.length(2));
    socket.close();
    const [call, finished] = told;
    const { inviteid, dialogid, connectionid } = call?.data ?? {};
    const { userid, fields } = await over(id);
    expect(finished).to.deep.include({
      class: 'callevents',
      type: 'operation_finished',
      data: {
        inviteid,
        connectionid,
        dialogid,
        id,
        operation: 'invite',
        userid,
        outcome: 'completed',
        result: 'rejected',
        fields,
      },
    });
  });

  it('a failed REFER is told with the call in which the two talk again', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid, inviteid } = await stage.dialog();
    const { socket, told } = await subscribe('callevents.operation_finished');
    const body = { by: '<sip:alice@demo.local>', referto: '104', response_mode: 0 };
    const answer = await (await stage.rest()).send('REFER', `${CALLS}/${dialogid}`, { body });
    expect(answer.status, answer.text).to.equal(200);
    await eventually(async () => expect(told).to.have.length(1));
    socket.close();
    expect(told[0]?.data).to.include({ result: 'rejected', dialogid, inviteid, connectionid: inviteid });
    await outgoing.hangup();
  });
});
