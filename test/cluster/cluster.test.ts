import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from '@nats-io/transport-node';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { expectError, expectTalk } from '../e2e/expectations.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import { Phone } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { parseUri } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { Receiver } from '../webhooks/receiver.ts';
import { useCluster } from './support/test-cluster.ts';

interface Contact {
  readonly id: string;
  readonly login: string;
}

const uri = (login: string): string => `<sip:${login}@demo.local>`;

/** With nats-server and PostgreSQL: requireNats. */
describe('a cluster of three nodes', function () {
  this.timeout(60_000);
  const cluster = useCluster(3);

  const rests = (): readonly RestClient[] => cluster().nodes.map(({ rest }) => rest);
  const logins = async (rest: RestClient): Promise<string[]> =>
    (await rest.get('/rest/v1/domain/registrations'))
      .json<Contact[]>()
      .map(({ login }) => login)
      .toSorted();
  const ids = async (rest: RestClient): Promise<string[]> =>
    (await rest.get(CALLS)).json<Dialog[]>().map(({ dialogid }) => dialogid);
  const noCalls = () =>
    eventually(async () => {
      for (const rest of rests()) expect(await ids(rest)).to.deep.equal([]);
    });
  /** Dialogs in each node itself. */
  const own = () => Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts['dialogs'] ?? 0));

  afterEach(noCalls);

  /** Talking pairs whose calls live at every node. */
  async function calls() {
    const { alice, bob } = { alice: await cluster().knownPhone('alice', 0), bob: await cluster().knownPhone('bob', 1) };
    const pairs: { outgoing: OutgoingCall; incoming: IncomingCall; dialogid: string }[] = [];
    const before = new Set<string>();
    for (let at = 0; at < 3; at += 1) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await outgoing.answered();
      const dialogid = await eventually(async () => {
        const fresh = (await ids(cluster().node(0).rest)).find((id) => !before.has(id));
        if (fresh === undefined) throw new Error('the call is not listed');
        return fresh;
      });
      before.add(dialogid);
      pairs.push({ outgoing, incoming, dialogid });
    }
    return { alice, bob, pairs };
  }

  it('lists its nodes for operators, and for nobody else', async () => {
    const { base } = cluster().node(1).node;
    const operator = await RestClient.login(base, { domain: 'master', login: 'admin', pwd: 'demo-admin' });
    const { state, nodes } = (await operator.get('/rest/v1/api/cluster')).json<{
      state: string;
      nodes: { node: string; http: string; state: string; version: string }[];
    }>();
    operator.close();
    expect(state).to.equal('ok');
    expect(nodes.map(({ node }) => node)).to.deep.equal(['n2', 'n1', 'n3']);
    expect(nodes[0]).to.include({ http: base, state: 'accepting', version: '0.1.0' });
    const alice = await cluster().node(1).node.login('alice');
    expectError(await alice.get('/rest/v1/api/cluster'), 403, 1401);
    alice.close();
  });

  it('has one registrar: a phone is called from anywhere, over its own server, until it unregisters', async () => {
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    for (const rest of rests())
      await eventually(async () => expect(await logins(rest)).to.deep.equal(['alice', 'bob']), 5000);
    for (let at = 0; at < 3; at += 1) {
      const outgoing = await alice.call('102');
      const incoming = await bob.incoming();
      await incoming.answer();
      await outgoing.answered();
      if (at === 0) await expectTalk(outgoing, incoming);
      await outgoing.hangup();
    }
    await bob.unregister();
    for (const rest of rests()) await eventually(async () => expect(await logins(rest)).to.deep.equal(['alice']), 5000);
    const refused = await alice.call('102');
    expect((await refused.refused()).status).to.equal(480);
  });

  it('bans a guesser of SIP passwords, though each attempt goes to another node', async () => {
    const registrar = cluster().sips[0]?.address ?? '';
    const guesser = await Phone.start({ login: 'dave', domain: 'demo.local', password: 'guessed', registrar });
    let attempts = 0;
    let isBanned = false;
    // Three nodes that count alone would need 13; together they need five, and a few more where the news takes time.
    for (; attempts < 12 && !isBanned; attempts += 1) {
      const { status, response } = await guesser.register();
      expect(status).to.equal(403);
      isBanned = header(response, 'retry-after') !== undefined;
    }
    await guesser.stop();
    expect(isBanned, `banned after ${attempts}`).to.equal(true);
  });

  it('a registration that ends by REST at one node ends at all', async () => {
    await cluster().knownPhone('carol', 0);
    const rest = cluster().node(2).rest;
    const contact = await eventually(async () => {
      const found = (await rest.get('/rest/v1/domain/registrations')).json<Contact[]>();
      const one = found.find(({ login }) => login === 'carol');
      if (one === undefined) throw new Error('carol is not listed');
      return one;
    });
    expect((await rest.send('DELETE', `/rest/v1/domain/registrations/${contact.id}`)).status).to.equal(204);
    for (const each of rests()) await eventually(async () => expect(await logins(each)).not.to.include('carol'), 5000);
  });

  it('has one callstore: lists, reads and finds the same calls at every node', async () => {
    const { pairs } = await calls();
    expect(await own(), 'calls of each node').to.deep.equal([1, 1, 1]);
    const all = pairs.map(({ dialogid }) => dialogid);
    const [first = ''] = all;
    const views: string[] = [];
    for (const rest of rests()) {
      expect(await ids(rest)).to.deep.equal(all);
      expect((await rest.get(CALLS, { countonly: true })).json()).to.deep.equal({ count: 3 });
      views.push((await rest.get(`${CALLS}/${first}`)).text);
      const { callids, inviteid, legs } = (await rest.get(`${CALLS}/${first}`)).json<Dialog>();
      const selectors = { dialogid: first, inviteid, callid: callids[0] };
      for (const [key, value] of Object.entries(selectors))
        expect((await rest.send('LOOKUP', CALLS, { body: { [key]: value } })).json(), key).to.deep.equal([first]);
      for (const body of [
        { from: '101' },
        { from: 'bob', mode: 'sipuser' },
        { uri: legs[0]?.remoteuri },
        { sipuserlogin: 'alice' },
        { sipuserphonenumber: '102' },
      ])
        expect((await rest.send('LOOKUP', CALLS, { body })).json(), JSON.stringify(body)).to.deep.equal(all);
      expectError(
        await rest.send('REFER', CALLS, { body: { from: '101', by: uri('101'), referto: '103' } }),
        409,
        1402,
      );
      expectError(await rest.get(`${CALLS}/000000000000`), 404, 1413);
    }
    expect(new Set(views).size, 'answers to a read').to.equal(1);
    await Promise.all(pairs.map(({ outgoing }) => outgoing.hangup()));
  });

  it('runs an operation where its call lives, with the answer and the record of a single node', async () => {
    const carol = await cluster().knownPhone('carol', 0);
    const { pairs } = await calls();
    for (const [at, { outgoing, dialogid }] of pairs.entries()) {
      // Each is asked of the next node, so that two of three are elsewhere.
      const { rest } = cluster().node((at + 1) % 3);
      const dry = (
        await rest.send('REFER', `${CALLS}/${dialogid}`, {
          query: { dry_run: true },
          body: { by: uri('102'), referto: '103' },
        })
      ).json<{ dialogs: { dialogid: string; legs: unknown[] }[] }>();
      expect(dry.dialogs.map((each) => [each.dialogid, each.legs.length])).to.deep.equal([[dialogid, 2]]);
      expectError(
        await rest.send('REFER', `${CALLS}/${dialogid}`, { body: { by: uri('104'), referto: '103' } }),
        422,
        1405,
      );
      const answering = carol.incoming().then((call) => call.answer());
      const moved = await rest.send('REFER', `${CALLS}/${dialogid}`, {
        body: { by: uri('102'), referto: '103', response_mode: 4 },
      });
      await answering;
      expect(moved.status, moved.text).to.equal(200);
      expect(moved.json<{ result: string }>().result).to.equal('ok');
      const operation = moved.header('operation-id') ?? '';
      for (const each of rests()) {
        const record = (await each.get(`/rest/v1/uc/operations/${operation}`)).json<{ milestones: unknown[] }>();
        expect(record.milestones.length).to.be.greaterThan(2);
      }
      await outgoing.hangup();
    }
  });

  it('DELETE by a selector ends the calls of all nodes', async () => {
    const { pairs } = await calls();
    const answer = await cluster().node(1).rest.send('DELETE', `${CALLS}?from=101`);
    expect(answer.status, answer.text).to.equal(200);
    const { dialogids } = answer.json<{ dialogids: string[] }>();
    expect(dialogids.toSorted()).to.deep.equal(pairs.map(({ dialogid }) => dialogid).toSorted());
    await Promise.all(pairs.map(({ outgoing }) => outgoing.ended()));
  });

  /** As the nodes are asked in turn. Waits for what makes them refuse. */
  async function refusedByAll(phone: Phone, number: string): Promise<void> {
    await eventually(async () => {
      for (let at = 0; at < 3; at += 1) {
        const outgoing = await phone.call(number);
        const refused = await outgoing.answered().then(
          () => undefined,
          () => outgoing.refused(),
        );
        if (refused === undefined) await outgoing.hangup();
        expect(refused).to.include({ status: 503 });
      }
    });
  }

  it('counts the calls of a domain once: its limit holds for all nodes together', async () => {
    const { rest } = cluster().node(0);
    const [domain] = (await rest.get('/rest/v1/domain/domains?filter={"name":"demo.local"}')).json<{ id: string }[]>();
    const limitTo = async (most: number | null) => {
      const path = `/rest/v1/domain/domains/${domain?.id}`;
      expect((await rest.send('PATCH', path, { body: { lic: { max_calls: most } } })).status).to.equal(200);
    };
    const { pairs } = await calls();
    const phone = await cluster().knownPhone('carol', 0);
    try {
      await limitTo(pairs.length);
      // All three nodes are asked, once they have heard of the limit and of all calls.
      await refusedByAll(phone, '501');
      for (let at = 0; at < 3; at += 1) {
        const refused = await cluster()
          .node(at)
          .rest.send('POST', CALLS, { body: { from: '103', to: '101' } });
        expect(refused.status, refused.text).to.equal(503);
      }
      await pairs[0]?.outgoing.hangup();
      await eventually(async () => {
        const again = await phone.call('501');
        await again.answered();
        await again.hangup();
      });
    } finally {
      await limitTo(null);
    }
    await Promise.all(pairs.slice(1).map(({ outgoing }) => outgoing.hangup()));
    await noCalls();
  });

  it('counts the calls of a provider once: its limit holds for all nodes together', async () => {
    const { rest } = cluster().node(0);
    const made: string[] = [];
    const make = async (collection: string, body: object): Promise<void> => {
      const path = `/rest/v1/domain/${collection}`;
      const answer = await rest.send('POST', path, { body });
      expect(answer.status, answer.text).to.equal(200);
      made.push(`${path}/${answer.json<{ id: string }>().id}`);
    };
    const outside = await Phone.start({ login: '0030123456', domain: 'demo.local' });
    const talking: OutgoingCall[] = [];
    try {
      const { host, port } = parseUri(outside.contact);
      await make('providers', { code: 'operator', host, port, max_calls: 2 });
      await make('routes', { to_pattern: '00%', target: { type: 'provider', code: 'operator' } });
      const alice = await cluster().knownPhone('alice', 0);
      const answering = (async () => {
        for (;;) await (await outside.incoming()).answer();
      })();
      // No further call comes.
      answering.catch(() => undefined);
      for (let at = 0; at < 2; at += 1) {
        const outgoing = await eventually(async () => {
          const call = await alice.call('0030123456');
          // A node that has not heard of the new route yet refuses.
          await call.answered();
          return call;
        });
        talking.push(outgoing);
      }
      expect((await own()).filter((count) => count > 0).length, 'nodes with a call').to.equal(2);
      // All three nodes are asked, the one without a call among them, once they have heard of both calls.
      await refusedByAll(alice, '0030123456');
      await Promise.all(talking.splice(0).map((call) => call.hangup()));
      await noCalls();
      // The ends are told within 20 ms; until then a node may still refuse.
      await eventually(async () => {
        const again = await alice.call('0030123456');
        await again.answered();
        await again.hangup();
      });
    } finally {
      for (const path of made.toReversed()) await rest.send('DELETE', path);
      await outside.stop();
    }
  });

  it('rings once for one Idempotency-Key, whichever nodes are asked', async () => {
    const alice = await cluster().knownPhone('alice', 0);
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { from: '101', to: '102', response_mode: 1 };
    const asked = rests().map((rest) => rest.send('POST', CALLS, { body, headers }));
    (await alice.incoming()).reject(486);
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    for (const answer of answers) expect(answer.json()).to.deep.equal(answers[0]?.json());
    expect(new Set(answers.map((answer) => answer.header('operation-id'))).size).to.equal(1);
    expect(answers.filter((answer) => answer.header('idempotency-replayed') === 'true').length).to.equal(2);
    expect(alice.waitingCalls).to.equal(0);
  });

  it('tells the events of all nodes at each, in one order; a client resumes at another node; webhooks get each once', async () => {
    interface Told {
      readonly seq: number;
      readonly type: string;
      readonly data: { readonly dialogid: string };
    }
    const receiver = await Receiver.start();
    const { id } = (
      await cluster()
        .node(0)
        .rest.send('POST', '/rest/v1/domain/webhooks', {
          body: { name: 'cluster', url: `${receiver.base}/ends`, events: ['callevents.call_end'] },
        })
    ).json<{ id: string }>();
    const sockets: WebSocket[] = [];
    const follow = async (at: number, more: object): Promise<{ socket: WebSocket; told: Told[]; answer: object }> => {
      const { base, authorization: headers } = cluster().node(at).rest;
      const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`, { headers });
      sockets.push(socket);
      await once(socket, 'open');
      const told: Told[] = [];
      const subscribed = Promise.withResolvers<object>();
      socket.on('message', (data: Buffer) => {
        const [method, body] = JSON.parse(data.toString()) as [string, object];
        if (method === 'subscribe_result') subscribed.resolve(body);
        if (method === 'event') told.push(body as Told);
      });
      socket.send(JSON.stringify(['subscribe', { events: ['callevents'], ...more }]));
      return { socket, told, answer: await subscribed.promise };
    };
    try {
      const [desk, wall] = [await follow(0, { id: 'desk' }), await follow(1, { id: 'wall' })];
      const { pairs } = await calls();
      await Promise.all(pairs.map(({ outgoing }) => outgoing.hangup()));
      const ends = (told: readonly Told[]) => told.filter(({ type }) => type === 'call_end').length;
      await eventually(async () => expect([ends(desk.told), ends(wall.told)]).to.deep.equal([3, 3]));
      expect(desk.told.map(({ seq }) => seq)).to.deep.equal(desk.told.map((_, index) => index + 1));
      const shown = (told: readonly Told[]) => told.map(({ seq, type, data }) => `${seq} ${type} ${data.dialogid}`);
      expect(shown(wall.told)).to.deep.equal(shown(desk.told));
      expect(new Set(desk.told.map(({ data }) => data.dialogid))).to.deep.equal(
        new Set(pairs.map(({ dialogid }) => dialogid)),
      );
      desk.socket.close();
      const again = await follow(2, { id: 'desk', after: 4 });
      expect(again.answer).to.include({ resumed: true, seq: desk.told.length });
      expect(shown(again.told)).to.deep.equal(shown(desk.told).slice(4));
      const { base, authorization } = cluster().node(1).rest;
      const abort = new AbortController();
      const stream = await fetch(`${base}/rest/v1/api/events`, {
        headers: { ...authorization, 'last-event-id': 'desk:5' },
        signal: abort.signal,
      });
      const chunks: string[] = [];
      for await (const chunk of stream.body ?? expect.fail()) {
        chunks.push(Buffer.from(chunk).toString());
        if (chunks.join('').includes(`id: desk:${desk.told.length}\n`)) break;
      }
      expect(chunks.join('')).to.include('"resumed":true').and.include('id: desk:6\n').and.not.include('id: desk:5\n');
      await eventually(async () => expect(receiver.received.length).to.equal(3));
      const delivered = receiver.received.map(({ body }) => (JSON.parse(body) as Told).data.dialogid);
      expect(delivered.toSorted()).to.deep.equal(pairs.map(({ dialogid }) => dialogid).toSorted());
    } finally {
      for (const socket of sockets) socket.terminate();
      await cluster().node(0).rest.send('DELETE', `/rest/v1/domain/webhooks/${id}`);
      receiver.close();
    }
  });

  it('without NATS calls go on and local operations work; what needs others is 503, until NATS is back', async () => {
    const { alice, bob, pairs } = await calls();
    await cluster().nats.stop();
    const [{ node, rest }] = [cluster().node(0)];
    await eventually(async () => {
      expectError(await rest.get(CALLS), 503, 1503);
      expect(await node.health())
        .to.have.property('cluster')
        .that.includes({ state: 'away', nodes: 1 });
    });
    // A further call, at whichever node: what phones registered elsewhere is still known.
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await outgoing.hangup();
    // By its id a call is ended at its own node.
    const answers = await Promise.all(rests().map((each) => each.send('DELETE', `${CALLS}/${pairs[0]?.dialogid}`)));
    expect(answers.map(({ status }) => status)).to.have.members([200, 503, 503]);
    const unreached = answers.find(({ status }) => status === 503);
    expect(unreached?.header('retry-after')).to.equal('1');
    // Known at one node only for now, and at all when NATS is back.
    await cluster().phone('carol', 0);
    await cluster().nats.start();
    await cluster().joined();
    for (const each of rests()) {
      await eventually(async () => expect((await ids(each)).length).to.equal(2));
      await eventually(async () => expect(await logins(each)).to.deep.equal(['alice', 'bob', 'carol']));
    }
    await Promise.all(pairs.slice(1).map((pair) => pair.outgoing.hangup()));
  });

  it('a killed node is gone within three seconds, rings nobody twice, and comes back', async () => {
    const { alice, pairs } = await calls();
    const carol = await cluster().knownPhone('carol', 1);
    const [{ rest, node: first }, { node }] = [cluster().node(0), cluster().node(2)];
    const headers = { 'Idempotency-Key': randomUUID() };
    const invite = { body: { from: '103', to: '104', response_mode: 1 }, headers };
    const nats = await connect({ servers: cluster().nats.url });
    const kept = nats.subscribe('$KV.ringmaster_calls.>');
    await nats.flush();
    const lost = cluster().node(2).rest.send('POST', CALLS, invite);
    lost.catch(() => undefined);
    const ringing = await carol.incoming();
    // A node keeps what it knows of an INVITE some 20 ms after it was sent.
    for await (const message of kept) if (message.string().includes('"kind":"ringing"')) break;
    await nats.close();
    await node.kill();
    await eventually(async () => expect(await first.health()).to.have.nested.property('cluster.nodes', 2));
    await ringing.ended();
    expectError(await rest.send('POST', CALLS, invite), 409, 1402);
    expect(carol.waitingCalls).to.equal(0);
    expect(await logins(rest)).to.deep.equal(['alice', 'bob', 'carol']);
    await node.restart();
    expect(await node.health(), 'without the process before it').to.have.nested.property('cluster.nodes', 3);
    await cluster().joined();
    // It knows what registered before its start.
    expect(await logins(cluster().node(2).rest)).to.deep.equal(['alice', 'bob', 'carol']);
    await eventually(async () => expect(await ids(rest)).to.have.lengthOf(3));
    await Promise.all(pairs.map(({ outgoing }) => outgoing.hangup()));
    expect(alice.waitingCalls).to.equal(0);
  });
});
