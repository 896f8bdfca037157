import { expect } from 'chai';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

interface Told {
  readonly class: string;
  readonly type: string;
  readonly seq: number;
  readonly data: Readonly<Record<string, string>>;
}

describe('the events of a call', () => {
  const stage = useStage();

  it('tell of its begin, answer, hold and end, in order, with its ids', async () => {
    const { token } = await stage.rest('admin');
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const told: Told[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, Told];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') told.push(body);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify(['subscribe', { qid: '1', id: 's1', events: ['callevents'], expires: 60 }]));
    await subscribed.promise;
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid, inviteid } = await stage.dialog();
    await outgoing.hold();
    await outgoing.unhold();
    await outgoing.hangup();
    await eventually(async () => expect(told.map(({ type }) => type)).to.include('call_end'));
    expect(told.map(({ type }) => type)).to.deep.equal([
      'call_init',
      'call_ringing',
      'call_answered',
      'call_hold',
      'call_unhold',
      'call_end',
    ]);
    for (const { data } of told) expect(data).to.include({ dialogid, inviteid, connectionid: inviteid });
    expect(told.at(-1)?.data['side']).to.equal('a');
    socket.close();
  });
});
