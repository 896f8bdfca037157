import { connect } from '@nats-io/transport-node';
import { expect } from 'chai';
import { expectTalk } from '../e2e/expectations.ts';
import type { Phone } from '../phones/phone.ts';
import { header, type SipResponse } from '../phones/sip/message.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { useSharedCluster } from './support/test-cluster.ts';
import { ends, lit, subscriptionsOf, told, watchesEverywhere } from './support/watching.ts';

const ROOM = '*7088';

const LEAVE = `
start: pick_up
blocks:
  pick_up: { answer: , next: message }
  message: { record: { max: 1s, silence: 0s, beep: false }, next: save }
  save:
    mailbox: { mailbox: bob, action: deposit, recording: "\${message.recording}", milliseconds: "\${message.milliseconds}" }
    next: end
`;

/** Publishes the presence of 102; an empty body keeps the former state. */
function publish(phone: Phone, basic: string, tag?: string, expires = 600): Promise<SipResponse> {
  const type = { name: 'Content-Type', value: 'application/pidf+xml' };
  const match = tag === undefined ? [] : [{ name: 'SIP-If-Match', value: tag }];
  const body =
    basic === ''
      ? ''
      : `<presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:102@demo.local"><tuple id="x"><status><basic>${basic}</basic></status><note>here</note></tuple></presence>`;
  const headers = body === '' ? match : [type, ...match];
  return phone.subscription('102', { event: 'presence', method: 'PUBLISH', expires, body, headers }).send();
}

/** With nats-server and PostgreSQL: requireNats. */
describe('subscriptions of phones in a cluster', function () {
  this.timeout(60_000);
  const cluster = useSharedCluster();

  afterEach(() =>
    eventually(async () => {
      for (const { rest } of cluster().nodes) expect((await rest.get(CALLS)).json<Dialog[]>()).to.deep.equal([]);
      expect(await subscriptionsOf(cluster())).to.deep.equal([0, 0, 0]);
    }),
  );

  it('show a call at any node as it rings, talks, is on hold and ends', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    const lamps = await watchesEverywhere(cluster(), carol, '102', 'dialog');
    for (const lamp of lamps) await told(lamp, lit());
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    const ringing = await Promise.all(lamps.map((lamp) => told(lamp, lit('early'))));
    for (const body of ringing)
      expect(body).to.include(`call-id="${incoming.callId}"`).and.include('>sip:101@demo.local<');
    await incoming.answer();
    await outgoing.answered();
    for (const lamp of lamps) await told(lamp, lit('confirmed'));
    await incoming.hold();
    for (const lamp of lamps) await told(lamp, (body) => lit('confirmed')(body) && body.includes('pval="no"'));
    // A lamp that comes later is lit by its first NOTIFY.
    const late = await watchesEverywhere(cluster(), carol, '102', 'dialog');
    for (const lamp of late) expect((await lamp.notifies.next(5000)).body).to.satisfy(lit('confirmed'));
    await outgoing.hangup();
    for (const lamp of [...lamps, ...late]) await told(lamp, lit());
    await ends([...lamps, ...late]);
  });

  it('let a phone pick up a call that rings at another node, by the NOTIFY of any', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    const lamps = await watchesEverywhere(cluster(), carol, '102', 'dialog');
    for (const lamp of lamps) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      const body = await told(lamp, (text) => lit('early')(text) && text.includes(incoming.callId));
      const [, callId, local, remote] = /call-id="([^"]+)" local-tag="([^"]+)" remote-tag="([^"]+)"/.exec(body) ?? [];
      const value = `${callId};to-tag=${remote};from-tag=${local};early-only`;
      const taking = await carol.call('102', { headers: [{ name: 'Replaces', value }] });
      await taking.answered();
      await outgoing.answered();
      expect((await incoming.ended()).by).to.equal('cancelled');
      await expectTalk(outgoing, taking);
      await told(lamp, lit());
      await taking.hangup();
      await outgoing.ended();
    }
    await ends(lamps);
  });

  it('show presence that was published at any node, and further PUBLISHes may come to others', async () => {
    const [bob, carol] = [await cluster().knownPhone('bob', 1), await cluster().knownPhone('carol', 0)];
    const watching = await watchesEverywhere(cluster(), carol, '102', 'presence');
    const first = await publish(bob, 'closed');
    expect(first.status).to.equal(200);
    for (const each of watching) await told(each, (body) => body.includes('<note>here</note>'));
    let tag = header(first, 'SIP-ETag');
    // In turn at all nodes.
    for (let at = 0; at < 3; at += 1) {
      const next = await publish(bob, '', tag);
      expect(next.status).to.equal(200);
      tag = header(next, 'SIP-ETag');
    }
    expect((await publish(carol, '', tag)).status, 'of somebody else').to.equal(403);
    const published = await Promise.all(
      cluster().nodes.map(async ({ node }) => (await node.health()).counts['publications']),
    );
    expect(published.reduce((sum = 0, each = 0) => sum + each)).to.equal(1);
    const call = await bob.call('501');
    await call.answered();
    for (const each of watching)
      await told(each, (body) => body.includes('<rpid:on-the-phone/>') && body.split('<tuple').length === 2);
    await call.hangup();
    expect((await publish(bob, '', tag, 0)).status).to.equal(200);
    for (const each of watching) await told(each, (body) => /<basic>open</.test(body) && !body.includes('<note>'));
    expect((await publish(bob, '', tag)).status).to.equal(412);
    await ends(watching);
  });

  it('show who is in a conference, whichever node has the room', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 0),
    ];
    const participants = (count: number) => (body: string) => body.includes(`<user-count>${count}</user-count>`);
    expect((await alice.subscription(ROOM, { event: 'conference', expires: 600 }).send()).status).to.equal(404);
    const first = await alice.call(ROOM);
    await first.answered();
    const watching = await watchesEverywhere(cluster(), alice, ROOM, 'conference');
    for (const each of watching) await told(each, participants(1));
    for (const _ of cluster().nodes)
      expect((await carol.subscription(ROOM, { event: 'conference', expires: 600 }).send()).status).to.equal(403);
    const second = await bob.call(ROOM);
    await second.answered();
    for (const each of watching) expect(await told(each, participants(2))).to.include('sip:bob@demo.local');
    await second.hangup();
    for (const each of watching) await told(each, participants(1));
    await first.hangup();
    for (const { notifies } of watching)
      for (;;) if ((await notifies.next(15_000)).state === 'terminated;reason=noresource') break;
  });

  it('light the message lamp, and show registrations, at every node', async () => {
    const { rest } = cluster().node(0);
    const body = { code: 'lamps_leave', name: 'leave', scriptdata: { format: 'yaml', source: LEAVE } };
    const made = await rest.send('POST', '/rest/v1/domain/ivrscripts', { body });
    expect(made.status, made.text).to.equal(200);
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    const lamps = await watchesEverywhere(cluster(), bob, '102', 'message-summary');
    for (const lamp of lamps) await told(lamp, (text) => text.includes('Messages-Waiting: no'));
    const call = await eventually(async () => {
      const tried = await alice.call('*55lamps_leave');
      await tried.answered();
      return tried;
    });
    call.play(440);
    await call.ended(15_000);
    for (const lamp of lamps) await told(lamp, (text) => text.includes('Voice-Message: 1/0'));
    const all = '/rest/v1/domain/voicemessages';
    for (const { id } of (await rest.get(all)).json<{ id: string }[]>()) await rest.send('DELETE', `${all}/${id}`);
    for (const lamp of lamps) await told(lamp, (text) => text.includes('Voice-Message: 0/0'));
    await rest.send('DELETE', `/rest/v1/domain/ivrscripts/${made.json<{ id: string }>().id}`);

    const registered = await watchesEverywhere(cluster(), bob, '102', 'reg');
    for (const each of registered) await told(each, (text) => text.split('<contact ').length === 2);
    await cluster().phone('bob', 0);
    for (const each of registered) await told(each, (text) => text.split('<contact ').length === 3);
    await ends([...lamps, ...registered]);
  });

  it('cost the other nodes nothing while nobody watches', async () => {
    // No other test watches carol.
    const [alice, carol] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('carol', 1)];
    const nats = await connect({ servers: cluster().nats.url });
    const methods: string[] = [];
    nats.subscribe('ringmaster.v1.node.*', {
      callback: (_, message) => void methods.push(message.headers?.get('Ringmaster-Method') ?? ''),
    });
    await nats.flush();
    const states = () => methods.filter((method) => method.startsWith('states.'));
    try {
      const talk = async (): Promise<void> => {
        const outgoing = await alice.call('103');
        const incoming = await carol.incoming();
        await incoming.answer();
        await outgoing.answered();
        await outgoing.hangup();
        await incoming.ended();
      };
      await talk();
      await nats.flush();
      expect(states()).to.deep.equal([]);
      const lamp = alice.subscription('103', { event: 'dialog', expires: 600 });
      await lamp.send();
      await told(lamp, lit());
      await talk();
      await eventually(async () => expect(states()).to.include('states.begin'));
      await ends([lamp]);
    } finally {
      await nats.close();
    }
  });
});
