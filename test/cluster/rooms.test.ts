import { expect } from 'chai';
import { expectError } from '../e2e/expectations.ts';
import {
  ALL_CONFERENCES,
  type Conference,
  type Participant,
  TONES,
  type TopologyEntry,
} from '../e2e/conference/support.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { followEvents } from '../support/event-feed.ts';
import { CALLS } from '../support/stage.ts';
import { type ClusterNode, useSharedCluster } from './support/test-cluster.ts';

/** Plays a tone of 1070 Hz for a moment. */
const SPEAKER = {
  code: 'speaker',
  name: 'Speaker',
  scriptdata: {
    format: 'yaml',
    source: 'name: Speaker\nstart: say\nblocks:\n  say: { play: "tone:%(1500,0,1070)", next: end }\n',
  },
};

/** An event of a conference. */
interface ConfEvent {
  readonly confid: string;
  readonly ruri?: string;
  readonly reason?: string;
}

/** With nats-server and PostgreSQL: requireNats. */
describe('rooms of a cluster', function () {
  this.timeout(60_000);
  const cluster = useSharedCluster();
  const rests = (): readonly RestClient[] => cluster().nodes.map(({ rest }) => rest);
  const calls = async (rest: RestClient): Promise<Dialog[]> => (await rest.get(CALLS)).json<Dialog[]>();
  const conferences = async (rest: RestClient): Promise<Conference[]> =>
    (await rest.get(ALL_CONFERENCES)).json<Conference[]>();
  const participants = async (rest: RestClient, confid: string): Promise<Participant[]> =>
    (await rest.get(`${ALL_CONFERENCES}/${confid}/participants`)).json<Participant[]>();
  const counts = (name: string) =>
    Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts[name] ?? 0));

  afterEach(() =>
    eventually(async () => {
      for (const rest of rests()) {
        expect(await conferences(rest)).to.deep.equal([]);
        expect(await calls(rest)).to.deep.equal([]);
      }
      for (const name of ['endpoints', 'conferences']) expect(await counts(name), name).to.deep.equal([0, 0, 0]);
    }),
  );

  /** What was told of ends: a participant with the reason, or the conference alone. */
  const farewells = (seen: readonly ConfEvent[]): readonly string[] =>
    seen.map(({ confid, ruri, reason }) => (ruri === undefined ? confid : `${ruri} ${confid} ${reason}`));

  /** The ends of participants and conferences, as a node tells them. */
  const followEnds = async ({ node, rest }: ClusterNode) => {
    const of = { node, rest: () => rest };
    const [left, over] = [
      await followEvents<ConfEvent>(of, 'confevents.conf_leave'),
      await followEvents<ConfEvent>(of, 'confevents.conf_end'),
    ];
    return {
      told: () => ({ left: farewells(left.seen).toSorted(), over: farewells(over.seen) }),
      close: () => [left, over].forEach((feed) => feed.close()),
    };
  };

  /** Three phones in one room, whose calls have come in at all nodes. */
  async function roomOfThree(number: string) {
    const phones = [];
    const inside: OutgoingCall[] = [];
    for (const [at, login] of (['alice', 'bob', 'carol'] as const).entries()) {
      const phone = await cluster().phone(login, 0);
      phones.push(phone);
      const call = await phone.call(number);
      await call.answered();
      call.play(TONES[at]);
      inside.push(call);
    }
    const conference = await eventually(async () => {
      const [found, ...more] = await conferences(cluster().node(0).rest);
      expect(more).to.deep.equal([]);
      if (found === undefined) throw new Error('no conference');
      const all = await participants(cluster().node(0).rest, found.confid);
      expect(all.map(({ state }) => state)).to.deep.equal(['connected', 'connected', 'connected']);
      return found;
    });
    return { phones, inside, conference };
  }

  it('a room is one wherever its callers come in: they hear each other, and every node answers the same', async () => {
    const { inside, conference } = await roomOfThree('*7017');
    const [a, b, c] = inside as [OutgoingCall, OutgoingCall, OutgoingCall];
    expect(await cluster().roomNodes(), 'nodes with a room').to.have.lengthOf(1);
    await Promise.all([a.hears(TONES[1]), a.hears(TONES[2]), b.hears(TONES[0]), c.hears(TONES[1])]);
    const views = await Promise.all(rests().map(async (rest) => (await rest.get(ALL_CONFERENCES)).text));
    expect(new Set(views).size).to.equal(1);
    const lists = await Promise.all(
      rests().map(async (rest) => JSON.stringify(await participants(rest, conference.confid))),
    );
    expect(new Set(lists).size).to.equal(1);
    for (const each of inside) await each.hangup();
  });

  const topology = async (rest: RestClient, confid: string): Promise<TopologyEntry[]> =>
    (await rest.get(`${ALL_CONFERENCES}/${confid}/topology`)).json<TopologyEntry[]>();

  it('its events reach its participants at every node, and no other user', async () => {
    const listen = (login: string) =>
      Promise.all(
        cluster().nodes.map(async ({ node }) =>
          followEvents<{ talking?: boolean }>({ node, rest: () => node.login(login) }, 'confevents.conf_talking'),
        ),
      );
    const [own, strange] = [await listen('bob'), await listen('dave')];
    const { inside } = await roomOfThree('*7024');
    const [a, b] = inside as [OutgoingCall, OutgoingCall];
    // Nobody stops to talk who was not heard yet.
    await b.hears(TONES[0]);
    const ends = (): number[] => own.map(({ seen }) => seen.filter(({ talking }) => talking === false).length);
    a.play(undefined);
    await eventually(async () => expect(ends()).to.deep.equal([1, 1, 1]));
    expect(strange.map(({ seen }) => seen)).to.deep.equal([[], [], []]);
    for (const each of inside) await each.hangup();
    for (const each of [...own, ...strange]) each.close();
  });

  it('its operations work at every node, and say the same of what is missing', async () => {
    const { phones, inside, conference } = await roomOfThree('*7018');
    const [a, b, c] = inside as [OutgoingCall, OutgoingCall, OutgoingCall];
    const { confid, confroomnum } = conference;
    const dave = await cluster().knownPhone('dave', 1);
    const path = `${ALL_CONFERENCES}/${confid}`;
    const all = await participants(cluster().node(0).rest, confid);
    const [one, two] = all.map(({ participantid }) => participantid);
    for (const [at, rest] of rests().entries()) {
      const enabled = at % 2 === 1;
      const body = [{ from: one, to: two, enabled }];
      expect((await rest.send('POST', `${path}/topology`, { body })).status).to.equal(200);
      const parted = enabled ? [] : [{ from: one, to: two, enabled: false }];
      for (const each of rests())
        expect((await topology(each, confid)).slice(1), `topology after node ${at}`).to.deep.equal(parted);
      for (const [key, value] of Object.entries({
        confid,
        confroomnum,
        confuri: conference.uri,
        sipuserlogin: 'carol',
      }))
        expect((await rest.send('LOOKUP', ALL_CONFERENCES, { body: { [key]: value } })).json(), key).to.deep.equal([
          confid,
        ]);
      expectError(await rest.get(`${ALL_CONFERENCES}/conf-00000000`), 404, 1404);
      expectError(await rest.send('DELETE', `${path}/participants/000000000000`), 404, 1404);
      expect(
        (await rest.send('DELETE', path, { query: { dry_run: true } })).json<{ dialogs: unknown[] }>().dialogs,
      ).to.have.lengthOf(3);
      const adding = dave.incoming().then((call) => call.answer().then(() => call));
      const added = await rest.send('POST', `${path}/participants`, { body: { to: '104' } });
      expect(added.status, added.text).to.equal(200);
      const { participantid } = added.json<{ participantid: string }>();
      const daves = await adding;
      await eventually(async () => {
        const states = (await participants(rest, confid)).map(({ state }) => state);
        expect(states).to.deep.equal(['connected', 'connected', 'connected', 'connected']);
      });
      expect((await rest.send('DELETE', `${path}/participants/${participantid}`)).status).to.equal(200);
      expect((await daves.ended()).by).to.equal('there');
    }
    await b.hearsNot(TONES[0], { forMs: 300 });
    await c.hears(TONES[0]);
    // A phone of another node holds, presses digits, and is called by its room.
    await a.hold();
    await eventually(async () =>
      expect((await participants(cluster().node(1).rest, confid)).map(({ state }) => state)).to.include('hold'),
    );
    await a.unhold();
    expect((await cluster().node(2).rest.send('DELETE', path)).status).to.equal(200);
    for (const each of inside) expect((await each.ended()).by).to.equal('there');
    expect(phones.map(({ waitingCalls }) => waitingCalls)).to.deep.equal([0, 0, 0]);
  });

  it('a call that is answered goes to the room of another node: REST, REFERCONF, SWITCHCONF and a REFER to a number', async () => {
    const { phones, inside, conference } = await roomOfThree('*7019');
    const [alice, bob] = phones as [Phone, Phone, Phone];
    const [a, b] = inside as [OutgoingCall, OutgoingCall, OutgoingCall];
    const { confid } = conference;
    const dave = await cluster().knownPhone('dave', 1);
    const settled = (count: number) =>
      eventually(async () => {
        const states = (await participants(cluster().node(0).rest, confid)).map(({ state }) => state);
        expect(states).to.deep.equal(Array.from({ length: count }, () => 'connected'));
      });
    for (const rest of rests()) {
      // Wherever the call is made, the phone ends in the one room.
      const answering = dave.incoming().then((call) => call.answer().then(() => call));
      const placed = await rest.send('POST', CALLS, { body: { from: '104', to: '*7019', response_mode: 4 } });
      expect(placed.json<{ result: string }>().result, placed.text).to.equal('ok');
      const call = await answering;
      call.play(TONES[5]);
      await settled(4);
      await Promise.all([a.hears(TONES[5]), call.hears(TONES[1])]);
      await call.hangup();
      await settled(3);
    }
    for (const rest of rests()) {
      const talk = await dave.call('102');
      const talking = await bob.incoming();
      await talking.answer();
      await talk.answered();
      const dialog = await eventually(async () => {
        const found = (await calls(rest)).find(({ callids }) => callids.includes(talk.callId));
        if (found === undefined) throw new Error('not listed');
        return found;
      });
      const referred = await rest.send('REFERCONF', `${CALLS}/${dialog.dialogid}`, {
        body: { by: '<sip:102@demo.local>', referconfid: confid, response_mode: 4 },
      });
      const answer = referred.json<{ result: string; new_dialogid: string }>();
      expect(answer.result, referred.text).to.equal('ok');
      expect((await talking.ended()).by).to.equal('there');
      await settled(4);
      talk.play(TONES[6]);
      await b.hears(TONES[6]);
      for (const each of rests())
        expect((await each.get(`${CALLS}/${answer.new_dialogid}`)).json<Dialog>().callids).to.include(talk.callId);
      await talk.hangup();
      await settled(3);
    }
    const talk = await dave.call('101');
    const talking = await alice.incoming();
    await talking.answer();
    await talk.answered();
    const dialog = (await calls(cluster().node(1).rest)).find(({ callids }) => callids.includes(talk.callId));
    const switched = await cluster()
      .node(2)
      .rest.send('SWITCHCONF', `${CALLS}/${dialog?.dialogid}`, { body: { referto: '*7019', response_mode: 4 } });
    expect(switched.json<object>(), switched.text).to.include({ result: 'ok', confid });
    await settled(5);
    await talking.hangup();
    await talk.hangup();
    await settled(3);
    for (const each of inside) await each.hangup();
  });

  it('a scenario that a node calls for a room of another node is heard there, and ends with it', async () => {
    const alice = await cluster().phone('alice', 0);
    const inside = await alice.call('*7021');
    await inside.answered();
    const echo = await cluster().node(0).rest.send('POST', '/rest/v1/domain/ivrscripts', { body: SPEAKER });
    expect(echo.status, echo.text).to.equal(200);
    for (const rest of rests()) {
      const placed = await rest.send('INVITEBYIVR', CALLS, { body: { to: '*7021', scriptcode: 'speaker' } });
      expect(placed.json<{ result: string }>().result, placed.text).to.equal('ok');
      await inside.hears(1070);
      await eventually(async () => expect(await calls(rest)).to.have.lengthOf(1), 10_000);
    }
    // The room's end ends the scenario's call, too.
    const placed = await cluster()
      .node(1)
      .rest.send('INVITEBYIVR', CALLS, { body: { to: '*7021', scriptcode: 'speaker' } });
    const { dialogid } = placed.json<{ dialogid: string }>();
    const [conference] = await conferences(cluster().node(0).rest);
    for (const rest of rests())
      expect((await rest.send('LOOKUP', ALL_CONFERENCES, { body: { dialogid } })).json()).to.deep.equal([
        conference?.confid,
      ]);
    await inside.hangup();
    await cluster().node(0).rest.send('DELETE', `/rest/v1/domain/ivrscripts/${echo.json<{ id: string }>().id}`);
  });

  it('asks callers of every node for its PIN, and records them all', async () => {
    const { rest } = cluster().node(0);
    const body = {
      prefix: '*79',
      type: 'conference',
      opts: { pin: '12', pin_prompt: 'tone:%(800,0,450)', record: true },
    };
    const { id } = (await rest.send('POST', '/rest/v1/domain/featurecodes', { body })).json<{ id: string }>();
    const phone = await cluster().phone('alice', 0);
    const inside: OutgoingCall[] = [];
    for (let at = 0; at < 3; at += 1) {
      const call = await eventually(async () => {
        const made = await phone.call('*791');
        // A node that has not heard of the new featurecode yet refuses.
        await made.answered();
        return made;
      });
      await call.hears(450);
      await call.sendDtmf('12');
      inside.push(call);
    }
    const conference = await eventually(async () => {
      const [found] = await conferences(rest);
      if (found === undefined) throw new Error('nobody is in yet');
      expect(await participants(rest, found.confid)).to.have.lengthOf(3);
      return found;
    });
    expect((await counts('lent_phones')).toSorted((a, b) => a - b)).to.deep.equal([0, 1, 1]);
    for (const call of inside) await call.hangup();
    await eventually(async () => {
      const kept = (await cluster().node(1).rest.get('/rest/v1/domain/recordings')).text;
      expect(kept).to.include(conference.confid);
    });
    await rest.send('DELETE', `/rest/v1/domain/featurecodes/${id}`);
  });

  it('without NATS its participants talk on and new rooms are 503; who hung up meanwhile has left when NATS is back', async () => {
    const { inside, conference } = await roomOfThree('*7022');
    const [a, b, c] = inside as [OutgoingCall, OutgoingCall, OutgoingCall];
    await cluster().nats.stop();
    await eventually(async () => {
      for (const { node } of cluster().nodes)
        expect(await node.health()).to.have.nested.property('cluster.state', 'away');
    });
    await Promise.all([a.hears(TONES[1]), b.hears(TONES[2]), c.hears(TONES[0])]);
    const dave = await cluster().phone('dave', 1);
    expect((await (await dave.call('*7023')).refused()).status).to.equal(503);
    for (const call of inside) await call.hangup();
    await cluster().nats.start();
    await cluster().joined();
    await eventually(async () => expect(await conferences(cluster().node(0).rest)).to.deep.equal([]));
    const again = await dave.call('*7022');
    await again.answered();
    const [fresh] = await eventually(async () => {
      const all = await conferences(cluster().node(1).rest);
      expect(all).to.have.lengthOf(1);
      return all;
    });
    expect(fresh?.confid).not.to.equal(conference.confid);
    await again.hangup();
  });

  it('keeps its phones when the home of one dies; the death of its own node frees all, and new callers get a new room', async () => {
    const { inside, conference } = await roomOfThree('*7020');
    const [owner = 0] = await cluster().roomNodes();
    const homes = await counts('lent_phones');
    const other = homes.findIndex((lent) => lent > 0);
    const last = cluster().node(3 - owner - other);
    const live = (): number => inside.filter((call) => call.live).length;
    const before = await cluster().settled();
    await cluster().node(other).node.kill();
    await eventually(async () => {
      expect(await cluster().settled()).to.equal(before + 1);
      expect(await last.node.health()).to.have.nested.property('cluster.nodes', 2);
      expect(await participants(last.rest, conference.confid)).to.have.lengthOf(3);
    }, 15_000);
    const [a, b, c] = inside as [OutgoingCall, OutgoingCall, OutgoingCall];
    await Promise.all([a.hears(TONES[1]), b.hears(TONES[2]), c.hears(TONES[0])]);
    expect(live()).to.equal(3);
    const { confid } = conference;
    const ends = await followEnds(last);
    // One of the three was at the dead node: each still leaves by BYE, and the room knows.
    for (const call of [a, b]) await call.hangup();
    await eventually(async () => expect(await participants(last.rest, confid)).to.have.lengthOf(1));
    const left = ['alice', 'bob'].map((login) => `<sip:${login}@demo.local> ${confid} normal release`);
    await eventually(async () => expect(ends.told()).to.deep.equal({ left, over: [] }));
    await cluster().node(owner).node.kill();
    await eventually(async () => {
      expect(live()).to.equal(0);
      expect(await conferences(last.rest)).to.deep.equal([]);
    }, 15_000);
    left.push(`<sip:carol@demo.local> ${confid} Node Lost`);
    await eventually(async () => expect(ends.told()).to.deep.equal({ left, over: [confid] }));
    ends.close();
    const dave = await cluster().phone('dave', 0);
    const again = await dave.call('*7020');
    await again.answered();
    await eventually(async () => {
      const [fresh] = await conferences(last.rest);
      expect(fresh?.confid)
        .to.match(/^conf-/)
        .and.not.equal(conference.confid);
    });
    await again.hangup();
    await Promise.all([owner, other].map((at) => cluster().node(at).node.restart()));
    await cluster().joined();
  });

  it('ends once for those who follow it when its node only stood still', async () => {
    const { inside, conference } = await roomOfThree('*7025');
    const [owner = 0] = await cluster().roomNodes();
    const other = cluster().node((owner + 1) % 3);
    const ends = await followEnds(other);
    const { pid = expect.fail() } = cluster().node(owner).node;
    process.kill(pid, 'SIGSTOP');
    try {
      await eventually(async () => expect(await conferences(other.rest)).to.deep.equal([]), 15_000);
      await eventually(async () => expect(inside.filter(({ live }) => live)).to.deep.equal([]), 15_000);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await cluster().joined();
    await eventually(async () => expect(await conferences(cluster().node(owner).rest)).to.deep.equal([]));
    const { confid } = conference;
    const left = ['alice', 'bob', 'carol'].map((login) => `<sip:${login}@demo.local> ${confid} Node Lost`);
    await eventually(async () => expect(ends.told()).to.deep.equal({ left, over: [confid] }));
    // What its own node may have told goes before that of the next room.
    const dave = await cluster().knownPhone('dave', 1);
    const next = await dave.call('*7026');
    await next.answered();
    await next.hangup();
    await eventually(async () => expect(ends.told().over).to.have.lengthOf(2));
    expect(ends.told().over[0]).to.equal(confid);
    expect(ends.told().left).to.have.lengthOf(4);
    ends.close();
  });
});
