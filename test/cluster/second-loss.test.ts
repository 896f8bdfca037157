import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { expectTalk } from '../e2e/expectations.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone } from '../phones/phone.ts';
import type { Dialog } from '../support/dialog.ts';
import { type EventFeed, followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS } from '../support/stage.ts';
import { useCluster } from './support/test-cluster.ts';

const KINDS = ['rings', 'holds', 'talks'] as const;
type Kind = (typeof KINDS)[number];

interface Call {
  readonly kind: Kind;
  readonly outgoing: OutgoingCall;
  readonly incoming: IncomingCall;
  readonly dialogid: string;
  /** Position of the node that has it. */
  readonly owner: number;
}

type CallsOf = (kind: Kind, owner: number) => readonly Call[];

interface HistoryRecord {
  readonly dialogid: string;
  readonly result: string;
}

const CLAIMED = 'this node takes care of the calls of a dead node';

function idsOf(calls: readonly { readonly dialogid: string }[]): readonly string[] {
  return calls.map(({ dialogid }) => dialogid).toSorted();
}

/** With nats-server and PostgreSQL: requireNats. */
describe('a node of a cluster that dies while it takes care of a dead one', function () {
  this.timeout(120_000);
  const cluster = useCluster(3);
  const feeds: EventFeed<{ dialogid: string }>[] = [];

  afterEach(() => {
    for (const feed of feeds.splice(0)) feed.close();
  });

  const rest = (at: number) => cluster().node(at).rest;
  const list = async (at: number) => (await rest(at).get(CALLS)).json<Dialog[]>();
  const ids = async (at: number) => idsOf(await list(at));

  async function make(kind: Kind, from: Phone, to: Phone, number: string): Promise<Call> {
    const outgoing = await from.call(number);
    const incoming = await to.incoming();
    if (kind === 'rings') {
      incoming.ring();
      await outgoing.ringing();
    } else {
      await incoming.answer();
      await outgoing.answered();
    }
    if (kind === 'talks') await expectTalk(outgoing, incoming);
    if (kind === 'holds') {
      await outgoing.hold();
      // The melody: from now on there is no bridge that could go on.
      await incoming.hearsSound();
    }
    const dialogid = await eventually(async () => {
      const found = (await list(0)).find(({ callids }) => callids.includes(outgoing.callId));
      if (found === undefined) throw new Error('the call is not listed');
      return found.dialogid;
    });
    const journals = await Promise.all(
      cluster().nodes.map(({ node }) => readFile(join(node.dataDir, 'calls.jsonl'), 'utf8')),
    );
    return { kind, outgoing, incoming, dialogid, owner: journals.findIndex((text) => text.includes(dialogid)) };
  }

  async function end({ kind, outgoing, incoming }: Call): Promise<void> {
    await (kind === 'rings' ? outgoing.cancel() : outgoing.hangup());
    await incoming.ended();
  }

  /** Makes so many calls of each kind at each node, and follows their ends. */
  async function makeCalls(
    counts: Readonly<Record<Kind, readonly number[]>>,
  ): Promise<{ calls: readonly Call[]; of: CallsOf }> {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 1),
    ];
    const calls: Call[] = [];
    const of: CallsOf = (kind, owner) => calls.filter((call) => call.kind === kind && call.owner === owner);
    // A SIP server gives them to the nodes in turn, a real one in any order.
    for (const kind of KINDS) {
      const missing = (owner: number) => of(kind, owner).length < (counts[kind][owner] ?? 0);
      while ([0, 1, 2].some(missing)) {
        const call = await make(kind, alice, kind === 'rings' ? carol : bob, kind === 'rings' ? '103' : '102');
        if (missing(call.owner)) calls.push(call);
        else await end(call);
      }
    }
    for (const at of [0, 1])
      feeds.push(await followEvents({ node: cluster().node(at).node, rest: () => rest(at) }, 'callevents.call_end'));
    return { calls, of };
  }

  /** Waits for a line in the log of one of the first two nodes. @returns position of the node */
  async function logged(line: string): Promise<number> {
    const counts = () => [0, 1].map((at) => cluster().node(at).node.output.split(line).length);
    const before = counts();
    for (;;) {
      const found = counts().findIndex((count, at) => count > (before[at] ?? 0));
      if (found !== -1) return found;
      await delay(1);
    }
  }

  /**
   * Kills the third node, and the one that takes care of it.
   * @param count of calls of each kind at each node
   * @param moment called before the first death; settles when the second node is to be killed
   */
  async function expectOneEnd(count: number, moment: (calls: CallsOf) => Promise<unknown>): Promise<void> {
    const each = [count, count, count];
    const { calls, of } = await makeCalls({ rings: each, holds: each, talks: each });

    const [claimed, come] = [logged(CLAIMED), moment(of)];
    await cluster().node(2).node.kill();
    const second = await claimed;
    const third = 1 - second;
    await come;
    await cluster().node(second).node.kill();
    cluster().media.goOn();
    const goesOn = calls.filter(({ kind, owner }) => kind === 'talks' || owner === third);
    const ended = calls.filter((call) => !goesOn.includes(call));
    await eventually(async () => expect(await ids(third)).to.deep.equal(idsOf(goesOn)), 15_000);
    for (const { kind, outgoing, incoming } of ended) {
      if (kind === 'holds') await Promise.all([outgoing.ended(), incoming.ended()]);
      else {
        expect((await incoming.ended()).by).to.equal('cancelled');
        expect((await outgoing.refused()).status).to.be.within(500, 503);
      }
    }

    for (const { outgoing, incoming, dialogid } of [...of('talks', 2), ...of('talks', second)]) {
      await expectTalk(outgoing, incoming);
      expect((await rest(third).send('LOOKUP', CALLS, { body: { dialogid } })).json()).to.deep.equal([dialogid]);
    }
    for (const call of goesOn) {
      const { kind, outgoing, incoming, dialogid } = call;
      if (kind === 'talks') {
        const deleted = await rest(third).send('DELETE', `${CALLS}/${dialogid}`);
        expect(deleted.status, deleted.text).to.equal(200);
        await Promise.all([outgoing.ended(), incoming.ended()]);
      } else await end(call);
    }
    await eventually(async () => expect(await ids(third)).to.deep.equal([]));

    // They do not write what the third has taken over.
    await Promise.all([2, second].map((at) => cluster().node(at).node.restart()));
    await cluster().joined();
    for (const at of [0, 1, 2]) expect(await ids(at)).to.deep.equal([]);
    expect(idsOf(feeds[third]?.seen ?? []), 'end events').to.deep.equal(idsOf(calls));
    for (const at of [0, 1, 2]) await rest(at).get('/rest/v1/uc/history');
    const records = (await rest(third).get('/rest/v1/uc/history', { limit: 200 })).json<HistoryRecord[]>();
    for (const call of calls)
      expect(
        records.filter(({ dialogid }) => dialogid === call.dialogid).map(({ result }) => result),
        `records of a call that ${call.kind} at node ${call.owner}`,
      ).to.deep.equal([ended.includes(call) ? 'node_died' : call.kind === 'rings' ? 'cancelled' : 'answered']);
  }

  it('leaves the rest to the third: calls talk on, those that cannot end once, for phones, events and records', async () => {
    try {
      await expectOneEnd(1, async (calls) => {
        // Without an answer of the media server nobody knows which calls talk on: those that ring are all that can be settled.
        cluster().media.pause();
        await eventually(async () => {
          for (const { seen } of feeds) expect(idsOf(seen)).to.deep.equal(idsOf(calls('rings', 2)));
        });
      });
    } finally {
      cluster().media.goOn();
    }
  });

  it('at the first of its calls, ends none of them twice, and loses none', async () => {
    await expectOneEnd(2, () => logged('a call of a dead node is'));
  });

  it('and only stood still, goes on with its own calls, and leaves the others to the node that went on', async () => {
    const { calls, of } = await makeCalls({ rings: [0, 0, 1], holds: [0, 0, 0], talks: [2, 2, 2] });
    const talking = calls.filter(({ kind }) => kind === 'talks');
    const claimed = logged(CLAIMED);
    cluster().media.pause();
    let stopped: number | undefined;
    try {
      await cluster().node(2).node.kill();
      const second = await claimed;
      // It waits for the media server now, and finds the answer when it wakes.
      await eventually(async () => {
        for (const { seen } of feeds) expect(idsOf(seen)).to.deep.equal(idsOf(of('rings', 2)));
      });
      stopped = cluster().node(second).node.pid;
      process.kill(stopped ?? expect.fail(), 'SIGSTOP');
      cluster().media.goOn();
      await eventually(async () => expect(await ids(1 - second)).to.deep.equal(idsOf(talking)), 15_000);
    } finally {
      if (stopped !== undefined) process.kill(stopped, 'SIGCONT');
      cluster().media.goOn();
    }
    await eventually(async () => {
      for (const at of [0, 1]) {
        expect(await cluster().node(at).node.health()).to.have.nested.property('cluster.nodes', 2);
        expect(await ids(at)).to.deep.equal(idsOf(talking));
      }
      const [first = 0, other = 0] = await Promise.all(
        [0, 1].map(async (at) => (await cluster().node(at).node.health()).counts['dialogs']),
      );
      expect(first + other, 'calls of both nodes').to.equal(talking.length);
    }, 15_000);
    for (const { outgoing, incoming, dialogid, owner } of talking) {
      await expectTalk(outgoing, incoming);
      const deleted = await rest(owner === 0 ? 1 : 0).send('DELETE', `${CALLS}/${dialogid}`);
      expect(deleted.status, deleted.text).to.equal(200);
      await Promise.all([outgoing.ended(), incoming.ended()]);
    }
    await eventually(async () => {
      for (const { seen } of feeds) expect(idsOf(seen), 'end events').to.deep.equal(idsOf(calls));
    });
    await cluster().node(2).node.restart();
    await cluster().joined();
    for (const at of [0, 1, 2]) expect(await ids(at)).to.deep.equal([]);
  });
});
