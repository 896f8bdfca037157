import { expect } from 'chai';
import { expectError, expectTalk, referProgress } from '../e2e/expectations.ts';
import { ALL_CONFERENCES } from '../e2e/conference/support.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone, PhoneOptions } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { useSharedCluster } from './support/test-cluster.ts';

interface Talk {
  readonly outgoing: OutgoingCall;
  readonly incoming: IncomingCall;
  readonly dialogid: string;
}

/** With nats-server and PostgreSQL: requireNats. */
describe('calls of different nodes', function () {
  this.timeout(60_000);
  const cluster = useSharedCluster();
  const rests = (): readonly RestClient[] => cluster().nodes.map(({ rest }) => rest);
  const calls = async (rest: RestClient): Promise<Dialog[]> => (await rest.get(CALLS)).json<Dialog[]>();
  const own = (name = 'dialogs') =>
    Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts[name] ?? 0));
  const referTo = (value: string) => [{ name: 'Refer-To', value }];

  before('make a featurecode for pickup', async () => {
    const body = { prefix: '*9', type: 'pickup' };
    expect((await cluster().node(0).rest.send('POST', '/rest/v1/domain/featurecodes', { body })).status).to.equal(200);
  });

  afterEach(() =>
    eventually(async () => {
      for (const rest of rests()) expect(await calls(rest)).to.deep.equal([]);
      for (const name of ['endpoints', 'conferences']) expect(await own(name), name).to.deep.equal([0, 0, 0]);
    }),
  );

  async function connect(from: Phone, to: Phone, number: string): Promise<Talk> {
    const outgoing = await from.call(number);
    const incoming = await to.incoming();
    await incoming.answer();
    await outgoing.answered();
    const { dialogid } = await listed(outgoing.callId);
    return { outgoing, incoming, dialogid };
  }

  const listed = (callid: string): Promise<Dialog> =>
    eventually(async () => {
      const found = (await calls(cluster().node(0).rest)).find(({ callids }) => callids.includes(callid));
      if (found === undefined) throw new Error('the call is not listed');
      return found;
    });

  /** Alice talks with bob at one node and with carol at the other. */
  async function consultation(options: Partial<PhoneOptions> = {}) {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1, options),
      await cluster().knownPhone('carol', 0, options),
    ];
    const first = await connect(alice, bob, '102');
    await first.outgoing.hold();
    const second = await connect(alice, carol, '103');
    expect(
      (await own()).toSorted((a, b) => a - b),
      'calls of each node',
    ).to.deep.equal([0, 1, 1]);
    return { alice, bob, carol, first, second };
  }

  /** The one call of the two, as every node sees it. */
  async function joined(one: { callId: string }, other: { callId: string }): Promise<Dialog> {
    const views = await eventually(async () => {
      const all = await Promise.all(rests().map((rest) => calls(rest)));
      for (const list of all) expect(list).to.have.lengthOf(1);
      return all.map(([dialog]) => dialog as Dialog);
    });
    expect(views[1]).to.deep.equal(views[0]);
    const [dialog] = views as [Dialog];
    expect(dialog.callids).to.have.members([one.callId, other.callId]);
    return dialog;
  }

  it('REFERREPLACES joins them, whichever node is asked', async () => {
    for (const [at, rest] of rests().slice(0, 2).entries()) {
      const { first, second } = await consultation();
      const path = `${CALLS}/${at === 0 ? first.dialogid : second.dialogid}`;
      const slavedialogid = at === 0 ? second.dialogid : first.dialogid;
      const body = { masterby: '<sip:101@demo.local>', slavedialogid, slaveby: '<sip:alice@demo.local>' };
      const dry = await rest.send('REFERREPLACES', path, { body, query: { dry_run: true } });
      expect(dry.json<{ dialogs: { legs: unknown[] }[] }>().dialogs.map(({ legs }) => legs.length)).to.deep.equal([
        2, 2,
      ]);
      const wrong = await rest.send('REFERREPLACES', path, { body: { ...body, slaveby: '<sip:104@demo.local>' } });
      expect(expectError(wrong, 422, 1405).error_details?.field).to.equal('slaveby');
      const answer = await rest.send('REFERREPLACES', path, { body: { ...body, binding: 'sold' } });
      const { result, new_dialogid: id } = answer.json<{ result: string; new_dialogid: string }>();
      expect(result, answer.text).to.equal('ok');
      await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
      expect((await joined(first.incoming, second.incoming)).dialogid).to.equal(id);
      await expectTalk(first.incoming, second.incoming);
      const operation = answer.header('operation-id') ?? '';
      const record = await rests()[1 - at]?.get(`/rest/v1/uc/operations/${operation}`);
      const { milestones } = record?.json<{ milestones: { milestone: string }[] }>() ?? {};
      expect(milestones?.map(({ milestone }) => milestone)).to.include.members(['F final', 'T final', 'finished']);
      await first.incoming.hold();
      await first.incoming.unhold();
      await expectTalk(first.incoming, second.incoming);
      await (at === 0 ? first : second).incoming.hangup();
      await (at === 0 ? second : first).incoming.ended();
      await cluster().stopPhones();
    }
  });

  it('a fax that one phone offers and takes back is cancelled at the phone of the other node', async function () {
    // drachtio-server cancels no re-INVITE.
    if (process.env['RINGMASTER_TEST_DRACHTIO'] !== undefined) this.skip();
    const { first, second } = await consultation({ faxes: true });
    const body = {
      masterby: '<sip:101@demo.local>',
      slavedialogid: second.dialogid,
      slaveby: '<sip:alice@demo.local>',
    };
    const answer = await cluster().node(0).rest.send('REFERREPLACES', `${CALLS}/${first.dialogid}`, { body });
    expect(answer.json(), answer.text).to.include({ result: 'ok' });
    await joined(first.incoming, second.incoming);
    await expectTalk(first.incoming, second.incoming);
    for (const [offerer, other] of [
      [first.incoming, second.incoming],
      [second.incoming, first.incoming],
    ] as const) {
      const never = Promise.withResolvers<void>();
      const asked = new Promise<void>((resolve) => {
        other.delays = () => {
          resolve();
          return never.promise;
        };
      });
      expect(await offerer.offerFax('alone', asked)).to.equal(487);
      await other.cancelledOffers.next(5000);
      other.delays = () => Promise.resolve();
      await expectTalk(first.incoming, second.incoming);
    }
    expect(await first.incoming.offerFax()).to.equal(200);
    expect(await first.incoming.offerSound()).to.equal(200);
    await expectTalk(first.incoming, second.incoming);
    await first.incoming.hangup();
    await second.incoming.ended();
  });

  it('a phone transfers them to each other (REFER with Replaces)', async () => {
    const { first, second } = await consultation();
    const target = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(second.outgoing.replaces)}>`);
    expect((await first.outgoing.request('REFER', target)).status).to.equal(202);
    expect((await referProgress(first.outgoing)).at(-1)).to.equal('SIP/2.0 200 OK');
    await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
    await joined(first.incoming, second.incoming);
    await expectTalk(first.incoming, second.incoming);
    // The phone at the other node presses digits, and transfers in turn.
    const dave = await cluster().knownPhone('dave', 1);
    for (const party of [first.incoming, second.incoming]) {
      const other = party === first.incoming ? second.incoming : first.incoming;
      await party.sendDtmf('7');
      await other.receivesDtmf('7');
    }
    expect((await first.incoming.request('REFER', referTo('<sip:104@demo.local>'))).status).to.equal(202);
    const last = await dave.incoming();
    await last.answer();
    expect((await referProgress(first.incoming)).at(-1)).to.equal('SIP/2.0 200 OK');
    await first.incoming.ended();
    await expectTalk(second.incoming, last);
    await last.hangup();
    await second.incoming.ended();
  });

  it('a transfer to a phone that has hung up returns the peer, and a wrong Replaces is 481', async () => {
    const { first, second } = await consultation();
    const wrong = `<sip:103@demo.local?Replaces=${encodeURIComponent(`${second.outgoing.replaces}x`)}>`;
    expect((await first.outgoing.request('REFER', referTo(wrong))).status).to.equal(481);
    await first.outgoing.unhold();
    await expectTalk(first.outgoing, first.incoming);
    await second.outgoing.hangup();
    await first.outgoing.hangup();
  });

  it('an INVITE with Replaces takes the place of a phone in a call of the other node', async () => {
    const { alice, first, second } = await consultation();
    const dave = await cluster().knownPhone('dave', 1);
    // One at a time, as INVITEs come to the nodes in turn.
    const takes: OutgoingCall[] = [];
    for (const { outgoing, incoming } of [first, second]) {
      const taking = await dave.call('101', { headers: [{ name: 'Replaces', value: outgoing.replaces }] });
      await taking.answered();
      await outgoing.ended();
      await expectTalk(taking, incoming);
      takes.push(taking);
    }
    for (const rest of rests()) expect(await calls(rest)).to.have.lengthOf(2);
    const gone = await dave.call('101', { headers: [{ name: 'Replaces', value: first.outgoing.replaces }] });
    expect((await gone.refused()).status).to.equal(481);
    for (const taking of takes) await taking.hangup();
    await Promise.all([first.incoming.ended(), second.incoming.ended()]);
    expect(alice.waitingCalls).to.equal(0);
  });

  it('a phone picks up a call that rings at the other node', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    // INVITEs come in turn: once at the same node, once at the other.
    for (const dialled of ['*9102', '*9', '*9102', '*9']) {
      const outgoing = await alice.call('102');
      const ringing = await bob.incoming();
      ringing.ring();
      await outgoing.ringing();
      const picker = await carol.call(dialled);
      await picker.answered();
      await outgoing.answered();
      expect((await ringing.ended()).by).to.equal('cancelled');
      await expectTalk(outgoing, picker);
      await joined(outgoing, picker);
      await picker.hangup();
      await outgoing.ended();
    }
    expect((await (await carol.call('*9102')).refused()).status).to.equal(404);
  });

  it('a conference is joined with a call of the other node', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 0),
      await cluster().knownPhone('carol', 1),
    ];
    const room = await alice.call('*7030');
    await room.answered();
    const stays = await bob.call('*7030');
    await stays.answered();
    for (const rest of rests()) {
      const talk = await connect(alice, carol, '103');
      const inRoom = await listed(room.callId);
      const body = {
        masterby: '<sip:101@demo.local>',
        slavedialogid: talk.dialogid,
        slaveby: '<sip:101@demo.local>',
        response_mode: 4,
      };
      const dry = await rest.send('REFERREPLACES', `${CALLS}/${inRoom.dialogid}`, { body, query: { dry_run: true } });
      expect(dry.status, dry.text).to.equal(200);
      await talk.outgoing.hangup();
    }
    const talk = await connect(alice, carol, '103');
    const inRoom = await listed(room.callId);
    const slave = { slavedialogid: inRoom.dialogid, slaveby: '<sip:101@demo.local>' };
    const body = { masterby: '<sip:101@demo.local>', ...slave, response_mode: 4 };
    const answer = await cluster().node(1).rest.send('REFERREPLACES', `${CALLS}/${talk.dialogid}`, { body });
    expect(answer.json<{ result: string }>().result, answer.text).to.equal('ok');
    await Promise.all([talk.outgoing.ended(), room.ended()]);
    await expectTalk(stays, talk.incoming);
    const [conference] = (await cluster().node(0).rest.get(ALL_CONFERENCES)).json<{ uris: string[] }[]>();
    expect(conference?.uris).to.have.members([
      '<sip:bob@demo.local>',
      '<sip:102@demo.local>',
      '<sip:carol@demo.local>',
      '<sip:103@demo.local>',
    ]);
    await talk.incoming.hangup();
    await stays.hangup();
  });

  it('a participant brings the peer of its call at another node into the room (REFER with Replaces)', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    const inRoom = await alice.call('*7031');
    await inRoom.answered();
    const stays = await bob.call('*7031');
    await stays.answered();
    const { outgoing, incoming } = await connect(alice, carol, '103');
    const target = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`);
    expect((await inRoom.request('REFER', target)).status).to.equal(202);
    expect((await referProgress(inRoom)).at(-1)).to.equal('SIP/2.0 200 OK');
    await outgoing.ended();
    incoming.play(620);
    await Promise.all([inRoom.hears(620), stays.hears(620)]);
    // The account of another phone is not alice's.
    const wrong = await connect(bob, carol, '103');
    const others = referTo(`<sip:103@demo.local?Replaces=${encodeURIComponent(wrong.outgoing.replaces)}>`);
    expect((await inRoom.request('REFER', others)).status).to.equal(481);
    for (const call of [wrong.outgoing, incoming, stays, inRoom]) await call.hangup();
  });

  it('the limit of a room counts the callers of all nodes', async () => {
    const { rest } = cluster().node(0);
    const body = { prefix: '*78', type: 'conference', opts: { max_members: 3 } };
    const { id } = (await rest.send('POST', '/rest/v1/domain/featurecodes', { body })).json<{ id: string }>();
    const [alice, bob, carol, dave] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
      await cluster().knownPhone('dave', 1),
    ];
    const one = await carol.call('*781');
    await one.answered();
    const talk = await connect(alice, bob, '102');
    const switched = await rest.send('SWITCHCONF', `${CALLS}/${talk.dialogid}`, {
      body: { referto: '*781', response_mode: 5 },
    });
    expect(switched.json<object>(), switched.text).to.include({ result: 'ok' });
    await eventually(async () => expect(await calls(rest)).to.have.lengthOf(3));
    // Full: a caller is busy, whichever node is asked.
    for (let at = 0; at < 3; at += 1) expect((await (await dave.call('*781')).refused()).status).to.equal(486);
    await talk.outgoing.hangup();
    await talk.incoming.hangup();
    await one.hangup();
    await rest.send('DELETE', `/rest/v1/domain/featurecodes/${id}`);
  });

  it('a phone that refuses its re-INVITE stays in its call, and SWITCHCONF gives both parties back to each other', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    const one = await carol.call('*7033');
    await one.answered();
    const [home] = await cluster().roomNodes();
    // A call at another node than the room.
    let talk = await connect(alice, bob, '102');
    while ((await own())[home ?? 0] !== 1) {
      await talk.outgoing.hangup();
      await talk.incoming.ended();
      talk = await connect(alice, bob, '102');
    }
    const { rest } = cluster().node(0);
    const body = { referto: '*7033', response_mode: 5 };
    for (const refusing of [talk.outgoing, talk.incoming]) {
      refusing.refuses = 488;
      const { dialogid } = await listed(talk.outgoing.callId);
      const switched = await rest.send('SWITCHCONF', `${CALLS}/${dialogid}`, { body });
      expect(switched.json<{ result: string }>().result, switched.text).to.not.equal('ok');
      refusing.refuses = undefined;
      await expectTalk(talk.outgoing, talk.incoming);
      await eventually(async () => expect(await calls(rest)).to.have.lengthOf(2));
    }
    await talk.outgoing.hangup();
    await talk.incoming.ended();
    await one.hangup();
  });
});
