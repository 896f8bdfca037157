import { expect } from 'chai';
import { EslClient } from '../embedded/media/support/esl-client.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import {
  type MediaServerProgram,
  mediaServerProgram,
  type ServerProgram,
  type SipServerProgram,
  sipServerProgram,
} from '../support/server-programs.ts';
import { expectTalk } from './expectations.ts';

const CALLS = '/rest/v1/uc/calls';
const NUMBERS = { alice: '101', bob: '102', carol: '103', dave: '104' } as const;
type Login = keyof typeof NUMBERS;
const IS_REAL = process.env['RINGMASTER_TEST_DRACHTIO'] !== undefined;

describe('several drachtio-servers and FreeSWITCHes', function () {
  this.timeout(60_000);
  let sips: readonly [SipServerProgram, SipServerProgram];
  let medias: readonly [MediaServerProgram, MediaServerProgram];
  let node: TestNode;
  let rest: RestClient;
  let phones: Phone[] = [];

  const servers = (): readonly ServerProgram[] => [...sips, ...medias];

  before(async () => {
    sips = [await sipServerProgram(), await sipServerProgram()];
    medias = [await mediaServerProgram(), await mediaServerProgram()];
    await Promise.all(servers().map((server) => server.start()));
    const [drachtio, freeswitch] = [sips, medias].map((kind) => kind.map(({ setting }) => setting).join(','));
    node = await TestNode.start({
      env: { RINGMASTER_DRACHTIO: drachtio ?? '', RINGMASTER_FREESWITCH: freeswitch ?? '' },
    });
    rest = await node.login();
    await allServersConnected();
  });
  afterEach(async () => {
    const stopped = phones;
    phones = [];
    await Promise.all(stopped.map((each) => each.stop()));
    await eventually(async () => expect((await dialogs()).length, 'dialogs left over').to.equal(0), 5000);
    expect(stopped.flatMap(({ violations }) => violations)).to.deep.equal([]);
  });
  after(async () => {
    rest.close();
    await node.remove();
    await Promise.all(servers().map((server) => server.stop()));
  });

  const counts = async (): Promise<Readonly<Record<string, number>>> => (await node.health()).counts;
  const allServersConnected = () =>
    eventually(async () => expect(await counts()).to.include({ sip_servers: 2, media_servers: 2 }), 10_000);
  /** Channels on all media servers. */
  async function channels(): Promise<number> {
    let all = 0;
    for (const { setting } of medias) {
      const client = await EslClient.connect(setting.slice(0, setting.lastIndexOf(':')));
      client.send('auth several\n\napi show channels count\n\n');
      const shown = await client.take(({ type }) => type === 'api/response', 2000);
      all += Number(/(\d+) total/.exec(shown?.body ?? '')?.[1]);
      client.destroy();
    }
    return all;
  }
  const dialogs = async () => (await rest.get(CALLS)).json<Dialog[]>();

  /** The record of an ended call. */
  const history = (call: PhoneCall | undefined) =>
    eventually(async () => {
      const records = (await rest.get('/rest/v1/uc/history')).json<{ legs: { callid: string }[] }[]>();
      const record = records.find(({ legs }) => legs.some(({ callid }) => callid === call?.callId));
      if (record === undefined) throw new Error('the call has no record');
      return record;
    });

  async function phone(login: Login, at: 0 | 1): Promise<Phone> {
    const registrar = sips[at].address;
    const started = await Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar });
    phones.push(started);
    expect(await started.register()).to.include({ status: 200 });
    return started;
  }

  async function connect(from: Phone, to: Phone) {
    const outgoing = await from.call(NUMBERS[to.login as Login]);
    const incoming = await to.incoming();
    await incoming.answer();
    await outgoing.answered();
    return { outgoing, incoming };
  }

  /** The media server that receives the phone's sound. */
  function serverOf(call: PhoneCall): MediaServerProgram {
    const port = call.session.remote?.port ?? 0;
    const found = medias.find(({ rtp }) => port >= rtp.from && port <= rtp.to);
    if (found === undefined) throw new Error(`the sound goes to port ${port}, which is none of the media servers'`);
    return found;
  }

  /** Two calls of alice on different media servers; she holds the first. */
  async function twoCalls() {
    const [alice, bob, carol] = [await phone('alice', 0), await phone('bob', 1), await phone('carol', 0)];
    const first = await connect(alice, bob);
    await first.outgoing.hold();
    const second = await connect(alice, carol);
    expect(serverOf(first.outgoing)).to.equal(serverOf(first.incoming));
    expect(serverOf(second.outgoing)).not.to.equal(serverOf(first.outgoing));
    const ids = (await rest.send('LOOKUP', CALLS, { body: { from: '101' } })).json<string[]>();
    const join = () =>
      rest.send('REFERREPLACES', `${CALLS}/${ids[0]}`, {
        body: { masterby: '<sip:101@demo.local>', slavedialogid: ids[1], slaveby: '<sip:101@demo.local>' },
      });
    return { alice, first, second, join };
  }

  it('phones of different SIP servers call each other; a phone is called through the server of its registration', async () => {
    const [alice, bob] = [await phone('alice', 0), await phone('bob', 1)];
    const { outgoing, incoming } = await connect(alice, bob);
    expect(incoming.header('Via')).to.contain(sips[1].address);
    await expectTalk(outgoing, incoming);
    await incoming.hold();
    await outgoing.hearsSound();
    await incoming.unhold();
    await expectTalk(outgoing, incoming);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('calls are spread over the media servers, and both legs of a call use the same one', async () => {
    const [alice, bob] = [await phone('alice', 0), await phone('bob', 1)];
    const calls = [];
    for (let call = 0; call < 4; call += 1) calls.push(await connect(alice, bob));
    for (const { outgoing, incoming } of calls) expect(serverOf(outgoing)).to.equal(serverOf(incoming));
    for (const media of medias) expect(calls.filter(({ outgoing }) => serverOf(outgoing) === media)).to.have.length(2);
    for (const { outgoing } of calls) await outgoing.hangup();
  });

  it('joining calls of different media servers moves one phone to the other server', async () => {
    const { first, second, join } = await twoCalls();
    const answer = await join();
    expect(answer.json(), answer.text).to.include({ result: 'ok' });
    await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
    await expectTalk(first.incoming, second.incoming);
    expect(serverOf(first.incoming)).to.equal(serverOf(second.incoming));
    await second.incoming.sendDtmf('5');
    await first.incoming.receivesDtmf('5');
    await first.incoming.hangup();
    await second.incoming.ended();
  });

  it('both calls stay when the phone to be moved refuses', async () => {
    const { alice, first, second, join } = await twoCalls();
    for (const { incoming } of [first, second]) incoming.refuses = 488;
    const joining = join();
    const answer = await joining;
    expect(answer.json<{ result: string }>().result, answer.text).not.to.equal('ok');
    await expectTalk(second.outgoing, second.incoming);
    await first.outgoing.unhold();
    await expectTalk(first.outgoing, first.incoming);
    expect(alice.waitingCalls).to.equal(0);
    await first.outgoing.hangup();
    await second.outgoing.hangup();
  });

  it('a party transferred to a room moves to the media server of the room', async () => {
    const [alice, bob, carol] = [await phone('alice', 0), await phone('bob', 1), await phone('carol', 1)];
    const member = await alice.call('*7031');
    await member.answered();
    const { outgoing, incoming } = await connect(bob, carol);
    expect(serverOf(outgoing)).not.to.equal(serverOf(member));
    await expectTalk(outgoing, incoming);
    const { status } = await outgoing.request('REFER', [
      { name: 'Refer-To', value: '<sip:*7031@demo.local>' },
      { name: 'Referred-By', value: '<sip:bob@demo.local>' },
    ]);
    expect(status).to.equal(202);
    await outgoing.ended();
    await expectTalk(member, incoming);
    expect(serverOf(incoming)).to.equal(serverOf(member));
    await incoming.hangup();
    await member.hangup();
  });

  /** Alice is in a room, bob talks to carol on the other media server. */
  async function roomAndCall(number: string) {
    const [alice, bob, carol] = [await phone('alice', 0), await phone('bob', 1), await phone('carol', 1)];
    const member = await alice.call(number);
    await member.answered();
    const call = await connect(bob, carol);
    expect(serverOf(call.outgoing)).not.to.equal(serverOf(member));
    const dialog = (await dialogs()).find(({ uris }) => uris.includes('<sip:carol@demo.local>'));
    const operate = (method: string, body: object) =>
      rest.send(method, `${CALLS}/${dialog?.dialogid}`, { body: { ...body, response_mode: 5 } });
    return { alice, member, ...call, operate };
  }

  it('SWITCHCONF, REFERCONF and Replaces move a call to the media server of the room', async () => {
    const { member, outgoing, incoming, operate } = await roomAndCall('*7032');
    const switched = await operate('SWITCHCONF', { referto: '*7032' });
    expect(switched.json(), switched.text).to.include({ result: 'ok' });
    for (const call of [outgoing, incoming]) {
      expect(serverOf(call)).to.equal(serverOf(member));
      await expectTalk(member, call);
    }
    await expectTalk(outgoing, incoming);
    // A phone on the other media server takes a participant's place: its media starts at the server of the room.
    const dave = await phone('dave', 1);
    const taking = await dave.call('*7032', { headers: [{ name: 'Replaces', value: incoming.replaces }] });
    await taking.answered();
    await incoming.ended();
    expect(serverOf(taking)).to.equal(serverOf(member));
    await expectTalk(member, taking);
    for (const call of [outgoing, taking, member]) await call.hangup();
  });

  it('REFERCONF and REFER with Replaces move a consulted party to the media server of the room', async () => {
    for (const how of ['REFERCONF', 'REFER'] as const) {
      const { member, outgoing, incoming, operate } = await roomAndCall('*7033');
      const bob = phones.find(({ login }) => login === 'bob');
      if (bob === undefined) throw new Error('no bob');
      const own = await bob.call('*7033');
      await own.answered();
      await own.hold();
      if (how === 'REFERCONF') {
        const moved = await operate('REFERCONF', { by: '<sip:bob@demo.local>', referconfroomnum: '33' });
        expect(moved.json(), moved.text).to.include({ result: 'ok' });
      } else {
        const to = `<sip:103@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`;
        expect((await own.request('REFER', [{ name: 'Refer-To', value: to }])).status).to.equal(202);
      }
      await outgoing.ended();
      await expectTalk(member, incoming);
      expect(serverOf(incoming)).to.equal(serverOf(member));
      await own.unhold();
      await expectTalk(own, incoming);
      for (const call of [own, incoming, member]) await call.hangup();
      for (const each of phones.splice(0)) await each.stop();
    }
  });

  for (const side of ['x', 'y'] as const) {
    it(`SWITCHCONF reconnects the parties when ${side.toUpperCase()} cannot move to the room`, async () => {
      const { member, outgoing, incoming, operate } = await roomAndCall('*7034');
      (side === 'x' ? outgoing : incoming).refuses = 488;
      const switched = await operate('SWITCHCONF', { referto: '*7034' });
      expect(switched.json(), switched.text).to.include({
        result: 'rejected',
        [`${side}_new_last_response`]: 'SIP/2.0 488 Not Acceptable Here',
      });
      await expectTalk(outgoing, incoming);
      const left = (await dialogs()).find(({ acallid }) => acallid === outgoing.callId);
      expect(left?.callids).to.have.members([outgoing.callId, incoming.callId]);
      for (const call of [outgoing, incoming, member]) await call.hangup();
    });
  }

  it('REFERCONF returns a party that cannot move to the room to its held initiator', async () => {
    const { alice, first, second } = await twoCalls();
    await second.outgoing.hangup();
    await first.outgoing.unhold();
    first.incoming.refuses = 488;
    const room = await alice.call('*7036');
    await room.answered();
    expect(serverOf(room)).not.to.equal(serverOf(first.outgoing));
    const found = await rest.send('LOOKUP', CALLS, { body: { callid: first.outgoing.callId } });
    const moved = await rest.send('REFERCONF', `${CALLS}/${found.json<string[]>()[0]}`, {
      body: { by: '<sip:101@demo.local>', referconfroomnum: '36', response_mode: 5 },
    });
    expect(moved.json(), moved.text).to.include({
      result: 'rejected',
      new_last_response: 'SIP/2.0 488 Not Acceptable Here',
    });
    await expectTalk(first.outgoing, first.incoming);
    expect(alice.waitingCalls).to.equal(0);
    await Promise.all([room.hangup(), first.outgoing.hangup()]);
  });

  it('the loss of a media server ends only its own calls; it is used again once it is back', async () => {
    const [alice, bob] = [await phone('alice', 0), await phone('bob', 1)];
    const calls = [await connect(alice, bob), await connect(alice, bob)];
    const [lost, kept] = medias;
    const on = (media: MediaServerProgram) => calls.find(({ outgoing }) => serverOf(outgoing) === media);
    const waiting = [await alice.call('102'), await alice.call('102')];
    const ringing = [await bob.incoming(), await bob.incoming()];
    for (const each of ringing) each.ring();
    await lost.stop();
    await Promise.all([on(lost)?.outgoing.ended(), on(lost)?.incoming.ended()]);
    expect(await history(on(lost)?.outgoing)).to.include({
      result: 'answered',
      ended_by: 'failure',
      reason: 'media lost',
    });
    // One of the two that ring had its caller there.
    const refused = await Promise.any(
      waiting.map(async (call) => ((await call.ended()).by === 'refused' ? call : expect.fail())),
    );
    expect(await history(refused)).to.include({
      result: 'failed',
      sip_status: 500,
      ended_by: 'failure',
      reason: 'media lost',
    });
    for (const call of waiting) if (call !== refused) await call.cancel();
    for (const each of ringing) expect((await each.ended()).by).to.equal('cancelled');
    const staying = on(kept);
    if (staying === undefined) throw new Error('no call on the server that is kept');
    await expectTalk(staying.outgoing, staying.incoming);
    const without = [await connect(alice, bob), await connect(alice, bob)];
    for (const { outgoing, incoming } of without) {
      expect(serverOf(outgoing)).to.equal(kept);
      await expectTalk(outgoing, incoming);
    }
    await lost.start();
    await allServersConnected();
    const again = await connect(alice, bob);
    expect(serverOf(again.outgoing)).to.equal(lost);
    await expectTalk(again.outgoing, again.incoming);
    for (const { outgoing } of [staying, ...without, again]) await outgoing.hangup();
  });

  it('the loss of a SIP server ends only its own calls; it is used again once it is back', async () => {
    const [alice, bob] = [await phone('alice', 0), await phone('bob', 0)];
    const kept = await connect(alice, bob);
    const [carol, dave] = [await phone('carol', 1), await phone('dave', 1)];
    const lost = await connect(carol, dave);
    const waiting = await dave.call('103');
    const ringing = await carol.incoming();
    ringing.ring();
    await waiting.ringing();
    await sips[1].stop();
    await eventually(async () => expect(await counts()).to.include({ sip_servers: 1 }));
    expect(await history(waiting)).to.include({
      result: 'failed',
      sip_status: 500,
      ended_by: 'failure',
      reason: 'SIP Server Lost',
    });
    waiting.abandon();
    await expectTalk(kept.outgoing, kept.incoming);
    const without = await connect(bob, alice);
    await expectTalk(without.outgoing, without.incoming);
    await sips[1].start();
    await allServersConnected();
    // A drachtio-server that has started again has no transaction to cancel: the phone rings until Expires.
    if (IS_REAL) ringing.abandon();
    else expect((await ringing.ended()).by).to.equal('cancelled');
    // The restarted server does not know the call, whose phones can no longer hang up.
    for (const call of [lost.outgoing, lost.incoming]) call.abandon();
    await eventually(async () => expect(await dialogs()).to.have.length(2));
    expect(await history(lost.outgoing)).to.include({
      result: 'answered',
      ended_by: 'failure',
      reason: 'session lost',
    });
    await eventually(async () => expect(await channels()).to.equal(4));
    expect(await carol.register()).to.include({ status: 200 });
    const again = await connect(alice, carol);
    await expectTalk(again.outgoing, again.incoming);
    for (const { outgoing } of [kept, without, again]) await outgoing.hangup();
  });

  it('a node uses the servers of its own site, and those of another site when these are lost', async () => {
    const [hamburg, berlin] = medias.map(({ setting }) => setting);
    const berliner = await TestNode.start({
      env: { RINGMASTER_FREESWITCH: `hamburg@${hamburg},berlin@${berlin}`, RINGMASTER_SITE: 'berlin' },
    });
    const api = await berliner.login();
    try {
      await eventually(async () => expect((await berliner.health()).counts).to.include({ media_servers: 2 }), 10_000);
      for (const login of ['alice', 'bob'] as const) {
        const each = await Phone.start({
          login,
          domain: 'demo.local',
          password: `demo-${login}`,
          registrar: berliner.sip,
        });
        phones.push(each);
        expect(await each.register()).to.include({ status: 200 });
      }
      const [alice, bob] = phones as [Phone, Phone];
      const calls = [await connect(alice, bob), await connect(alice, bob)];
      expect(calls.map(({ outgoing }) => serverOf(outgoing))).to.deep.equal([medias[1], medias[1]]);
      expect((await api.get(CALLS)).json<{ site: string }[]>().map(({ site }) => site)).to.deep.equal([
        'berlin',
        'berlin',
      ]);
      for (const { outgoing } of calls) await outgoing.hangup();
      await medias[1].stop();
      await eventually(async () => expect((await berliner.health()).counts).to.include({ media_servers: 1 }), 10_000);
      const elsewhere = await connect(alice, bob);
      expect(serverOf(elsewhere.outgoing)).to.equal(medias[0]);
      await elsewhere.outgoing.hangup();
    } finally {
      api.close();
      // They unregister there.
      await Promise.all(phones.splice(0).map((each) => each.stop()));
      await berliner.remove();
      await medias[1].start();
    }
  });
});
