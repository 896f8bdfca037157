import { expect } from 'chai';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';

interface ReceivedEvent {
  readonly class: string;
  readonly type: string;
  readonly seq: number;
  readonly data: Readonly<Record<string, string>>;
}

describe('call events', () => {
  const stage = useStage();
  const sockets: WebSocket[] = [];

  afterEach('nobody listens any more', () => {
    for (const socket of sockets.splice(0)) socket.close();
  });

  /** Collects events from now on. */
  async function watch(login = 'admin'): Promise<readonly ReceivedEvent[]> {
    const { token } = await stage.rest(login);
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    sockets.push(socket);
    const received: ReceivedEvent[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, ReceivedEvent];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') received.push(body);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify(['subscribe', { qid: '1', id: 's1', events: ['callevents'], expires: 60 }]));
    await subscribed.promise;
    return received;
  }

  it('report start, answer, hold and end in order, with the ids of the call', async () => {
    const received = await watch();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid, inviteid } = await stage.dialog();
    await outgoing.hold();
    await outgoing.unhold();
    await outgoing.hangup();
    await eventually(async () => expect(received.map(({ type }) => type)).to.include('call_end'));
    expect(received.map(({ type }) => type)).to.deep.equal([
      'call_init',
      'call_ringing',
      'call_answered',
      'call_hold',
      'call_unhold',
      'call_end',
    ]);
    for (const { data } of received) expect(data).to.include({ dialogid, inviteid, connectionid: inviteid });
    expect(received.at(-1)?.data['side']).to.equal('a');
  });

  it('reach the users who take part, and no other user', async () => {
    const [everything, own, callee, stranger] = await Promise.all(['admin', 'alice', 'bob', 'carol'].map(watch));
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    await outgoing.hangup();
    const types = (received: readonly ReceivedEvent[] | undefined): readonly string[] =>
      (received ?? []).map(({ type }) => type);
    await eventually(async () => {
      for (const received of [everything, own, callee]) expect(types(received)).to.include('call_end');
    });
    expect(types(own)).to.deep.equal(types(everything));
    expect(types(callee)).to.include.members(['call_answered', 'call_end']);
    expect(stranger).to.deep.equal([]);
  });

  /** The dialogs of a call, linked by its events. */
  function linkedDialogs(received: readonly ReceivedEvent[], first: string): readonly string[] {
    const dialogs = [first];
    for (const { type, data } of received) {
      if (type === 'call_transfer' && data['dialogid'] === dialogs.at(-1)) dialogs.push(data['new_dialogid'] ?? '');
    }
    return dialogs;
  }

  async function expectCallsEnded(received: readonly ReceivedEvent[]): Promise<void> {
    await stage.expectNoDialog();
    await eventually(async () => {
      const count = (type: string) => received.filter((each) => each.type === type).length;
      expect(count('call_end')).to.equal(count('call_init'));
    });
  }

  it('link a transferred call to its new call', async () => {
    const received = await watch();
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const body = { by: '<sip:alice@demo.local>', referto: '103', response_mode: 4 };
    const referred = rest.send('REFER', `${CALLS}/${dialogid}`, { body });
    await (await carol.incoming()).answer();
    const { new_dialogid: last = '' } = (await referred).json<{ new_dialogid?: string }>();
    await rest.send('DELETE', `${CALLS}/${last}`);
    await expectCallsEnded(received);
    // In between, bob was taken over by the scenario of the transfer.
    const dialogs = linkedDialogs(received, dialogid);
    expect(dialogs).to.have.length(3);
    expect(dialogs.at(-1)).to.equal(last);
  });

  it('link both joined calls to the resulting call', async () => {
    const received = await watch();
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    await stage.connect(alice, bob, '102');
    const master = await stage.dialog();
    await stage.connect(alice, carol, '103');
    const slave = (await stage.dialogs()).find((each) => each.dialogid !== master.dialogid)?.dialogid ?? '';
    const by = '<sip:alice@demo.local>';
    const body = { masterby: by, slavedialogid: slave, slaveby: by };
    const joined = await rest.send('REFERREPLACES', `${CALLS}/${master.dialogid}`, { body });
    const { new_dialogid: last = '' } = joined.json<{ new_dialogid?: string }>();
    await rest.send('DELETE', `${CALLS}/${last}`);
    await expectCallsEnded(received);
    expect(linkedDialogs(received, master.dialogid).at(-1)).to.equal(last);
    expect(linkedDialogs(received, slave)).to.deep.equal([slave, last]);
  });
});
