import { expect } from 'chai';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually.ts';
import { OWN_CONFERENCES, PARTICIPANT, type Participant, TONES, useRooms } from './support.ts';

interface ReceivedEvent {
  readonly class: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('conference events', () => {
  const { stage, rooms } = useRooms();

  /** The events of one conference that a user receives. */
  const listen = async (login: string, number: string): Promise<{ received: ReceivedEvent[]; close(): void }> => {
    const { token } = await stage.rest(login);
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const received: ReceivedEvent[] = [];
    const subscribed = Promise.withResolvers<void>();
    socket.on('message', (text: Buffer) => {
      const [method, body] = JSON.parse(text.toString()) as [string, ReceivedEvent];
      if (method === 'subscribe_result') subscribed.resolve();
      if (method === 'event') received.push(body);
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const exargs = { filter: ['==', ['property', 'uri'], `<sip:${number}@demo.local>`] };
    socket.send(JSON.stringify(['subscribe', { qid: '1', id: 'c', events: ['confevents'], exargs, expires: 60 }]));
    await subscribed.promise;
    return { received, close: () => socket.close() };
  };

  it('report nothing about a caller who has not entered the PIN yet', async () => {
    const rest = await stage.rest();
    const code = { prefix: '*7701', type: 'conference', opts: { pin: '4711', pin_prompt: 'tone:%(800,0,1300)' } };
    expect((await rest.send('POST', '/rest/v1/domain/featurecodes', { body: code })).status).to.equal(200);
    const events = await listen('admin', '*77011');
    const types = () => events.received.map(({ type }) => type);
    const started = async () =>
      /conference_events_total\{event="conf_start"\} (\d+)/.exec((await rest.get('/metrics')).text)?.[1];
    const before = await started();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const guessing = await rooms.enter(alice, '*77011');
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await guessing.hears(1300);
      expect(await rooms.list()).to.deep.equal([]);
      await guessing.sendDtmf('1#');
    }
    expect((await guessing.ended()).by).to.equal('there');
    await stage.expectNoDialog();
    expect(await started()).to.equal(before);
    // Events come in order: there were none before these.
    const knowing = await rooms.enter(bob, '*77011');
    await knowing.hears(1300);
    await knowing.sendDtmf('4711');
    const { confid } = await rooms.only(1);
    await knowing.hangup();
    await eventually(async () => expect(types().at(-1)).to.equal('conf_end'));
    expect(types().slice(0, 3)).to.deep.equal(['conf_start', 'conf_state', 'conf_join']);
    expect(new Set(events.received.map(({ data }) => data['confid']))).to.deep.equal(new Set([confid]));
    events.close();
  }).timeout(30_000);

  it('report start, joining, talking, holding, topology changes, leaving and end in order', async () => {
    const events = await listen('admin', '*707111');
    const nobody = await listen('carol', '*707111');
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*707111');
    const { confid } = await rooms.only(1);
    one.play(TONES[0]);
    const types = () => events.received.map(({ type }) => type);
    await eventually(async () => expect(types()).to.include('conf_talking'));
    one.play(undefined);
    await eventually(async () => expect(events.received.at(-1)?.data).to.include({ talking: false }));
    expect(types()).to.deep.equal([
      'conf_start',
      'conf_state',
      'conf_state',
      'conf_join',
      'conf_talking',
      'conf_talking',
    ]);
    const participantid = events.received[3]?.data['participantid'];
    expect(events.received[3]?.data).to.include({ confid, ruri: '<sip:alice@demo.local>', moderator: false });
    events.received.length = 0;
    const added = (await rooms.ask('POST', `/${confid}/participants`, { to: '102' })).json<{ participantid: string }>();
    const called = await bob.incoming();
    called.ring();
    called.reject(486);
    await eventually(async () => expect(types()).to.include('conf_leave'));
    expect(events.received.at(-1)?.data).to.include({
      participantid: added.participantid,
      last_response: 'SIP/2.0 486 Busy Here',
    });
    events.received.length = 0;
    const other = await rooms.enter(bob, '*707111');
    await rooms.only(2);
    await other.hold();
    await other.unhold();
    await rooms.topology(confid, [{ from: String(participantid), to: '*', enabled: false }]);
    await other.hangup();
    await one.hangup();
    await eventually(async () => expect(types()).to.include('conf_end'));
    const received = events.received.filter(({ type }) => type !== 'conf_talking');
    expect(received.map(({ type, data }) => (type === 'conf_state' ? data['state'] : type))).to.deep.equal([
      'calling',
      'connected',
      'conf_join',
      'hold',
      'connected',
      'conf_topology',
      'conf_leave',
      'conf_leave',
      'conf_end',
    ]);
    expect(received[5]?.data['changes']).to.have.length(1);
    for (const { data } of events.received) expect(data).to.include({ confid, confroomnum: '7111' });
    expect(nobody.received, 'of a user who does not take part').to.deep.equal([]);
    events.close();
    nobody.close();
  });

  it('reach a participant without the right to all conferences, from the first ringing to the own end', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const events = await listen('bob', '*707113');
    const one = await rooms.enter(alice, '*707113');
    const { confid } = await rooms.only(1);
    expect(events.received).to.deep.equal([]);
    await rooms.ask('POST', `/${confid}/participants`, { to: '102' });
    const called = await bob.incoming();
    called.ring();
    await called.answer();
    one.play(TONES[0]);
    await eventually(async () => {
      const path = `/${confid}/participants?mask=${PARTICIPANT}`;
      const seen = (await rooms.ask('GET', path, undefined, 'bob', OWN_CONFERENCES)).json<Participant[]>();
      expect(seen.find(({ ruri }) => ruri.includes('alice'))).to.include({ talking: true, moderator: false });
    });
    await eventually(async () =>
      expect(events.received.map(({ type }) => type)).to.include.members(['conf_join', 'conf_talking']),
    );
    await called.hangup();
    await eventually(async () => expect(events.received.at(-1)?.type).to.equal('conf_leave'));
    const types = events.received.map(({ type, data }) => (type === 'conf_state' ? data['state'] : type));
    expect(types).to.include.members(['calling', 'ringing', 'connected', 'conf_join', 'conf_talking']);
    await rooms.topology(confid, []);
    await one.hangup();
    await rooms.expectNothing();
    expect(events.received.at(-1)?.type, 'nothing after the own end').to.equal('conf_leave');
    expect(types).to.not.include('conf_end');
    events.close();
  });

  it('reach no participant whose roles refuse the own conferences, and no other participant', async () => {
    const admin = await stage.rest();
    const [id] = (await admin.send('LOOKUP', '/rest/v1/iam/users', { body: { login: 'carol' } })).json<[string]>();
    const setRoles = async (roles: readonly string[]) =>
      expect((await admin.send('PATCH', `/rest/v1/iam/users/${id}`, { body: { roles } })).status).to.equal(200);
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const [events, others, all] = [
      await listen('carol', '*707114'),
      await listen('bob', '*707114'),
      await listen('admin', '*707114'),
    ];
    const elsewhere = await rooms.enter(bob, '*707115');
    try {
      await setRoles([]);
      const calls = [await rooms.enter(carol, '*707114'), await rooms.enter(alice, '*707114')];
      await eventually(async () => expect(all.received.filter(({ type }) => type === 'conf_join')).to.have.length(2));
      expect(events.received).to.deep.equal([]);
      await setRoles(['user']);
      await calls[1]?.hangup();
      await eventually(async () => expect(events.received.map(({ type }) => type)).to.deep.equal(['conf_leave']));
      await calls[0]?.hangup();
    } finally {
      await setRoles(['user']);
    }
    await eventually(async () => expect(all.received.at(-1)?.type).to.equal('conf_end'));
    expect(others.received, 'of a user in another room').to.deep.equal([]);
    await elsewhere.hangup();
    for (const each of [events, others, all]) each.close();
  });

  it('say that a participant who holds the conference talks no more', async () => {
    const alice = await stage.phone('alice');
    const events = await listen('admin', '*707116');
    const talking = () => events.received.flatMap(({ type, data }) => (type === 'conf_talking' ? data['talking'] : []));
    const call = await rooms.enter(alice, '*707116', TONES[0]);
    const room = await rooms.only(1);
    await eventually(async () => expect((await rooms.participants(room))[0]).to.include({ talking: true }));
    await call.hold();
    await eventually(async () => expect(talking()).to.deep.equal([true, false]));
    expect((await rooms.participants(room))[0]).to.include({ state: 'hold', talking: false });
    await call.unhold();
    await eventually(async () => expect(talking()).to.deep.equal([true, false, true]));
    expect((await rooms.participants(room))[0]).to.include({ state: 'connected', talking: true });
    await call.hangup();
    events.close();
  });

  it('the metrics count conferences and time topology commands', async () => {
    const figures = async () => {
      const { text } = await (await stage.rest()).get('/metrics');
      const value = (name: string) => Number(new RegExp(`^ringmaster_${name} ([\\d.e-]+)$`, 'm').exec(text)?.[1] ?? 0);
      const event = (name: string) => value(`conference_events_total{event="conf_${name}"}`);
      return {
        events: ['start', 'join', 'leave', 'end'].map(event),
        commands: value('topology_commands_total'),
        effects: value('topology_effect_seconds_count'),
        prompt: value('topology_effect_seconds_bucket{le="5"}'),
        rooms: value('alive{kind="conferences"}'),
        members: value('alive{kind="conference_members"}'),
      };
    };
    const before = await figures();
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*707112');
    const other = await rooms.enter(bob, '*707112');
    const { confid } = await rooms.only(2);
    await rooms.ask('POST', `/${confid}/participants`, { to: '103' });
    (await carol.incoming()).reject(486);
    await rooms.topology(confid, [
      { from: '*', to: '*', enabled: false },
      { from: '*', to: '*', enabled: true },
    ]);
    const during = await figures();
    expect(during).to.include({ rooms: 1, members: 2, commands: before.commands + 2, effects: before.effects + 1 });
    expect(during.prompt, 'within five seconds').to.equal(during.effects);
    await Promise.all([one.hangup(), other.hangup()]);
    await rooms.expectNothing();
    const after = await figures();
    expect(after).to.include({ rooms: 0, members: 0 });
    expect(after.events.map((value, index) => value - (before.events[index] ?? 0))).to.deep.equal([1, 2, 2, 1]);
  });
});
