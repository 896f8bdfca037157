import { expect } from 'chai';
import type { IncomingCall } from '../../phones/incoming-call.ts';
import type { OutgoingCall } from '../../phones/outgoing-call.ts';
import { Phone } from '../../phones/phone.ts';
import { type PostgresServer, postgresServer } from '../../storage/support/postgres-server.ts';
import { eventually } from '../../support/eventually.ts';
import { type Health, TestNode } from '../../support/node.ts';
import { awaitRecords, HISTORY, type Shown } from './records.ts';

type HistoryHealth = Health & { readonly history: { readonly state: string; readonly waiting: number } };

describe('the history of calls and its database', () => {
  const phones: Phone[] = [];
  let node: TestNode | undefined;

  afterEach(async function () {
    this.timeout(30_000);
    await Promise.all(phones.splice(0).map((each) => each.stop({ abruptly: true })));
    await node?.remove();
    node = undefined;
  });

  async function start(env: Record<string, string> = {}): Promise<TestNode> {
    node = await TestNode.start({ env, embedded: true });
    return node;
  }

  async function phonesOf(at: TestNode): Promise<[Phone, Phone]> {
    const made: Phone[] = [];
    for (const login of ['alice', 'bob']) {
      const options = { login, domain: 'demo.local', password: `demo-${login}`, registrar: at.sip };
      const phone = await Phone.start(options);
      phones.push(phone);
      expect((await phone.register()).status).to.equal(200);
      made.push(phone);
    }
    return made as [Phone, Phone];
  }

  /** Calls that are answered and hung up, one after another. @returns their Call-IDs */
  async function callOften(both: [Phone, Phone], count: number): Promise<string[]> {
    const callids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const [outgoing, incoming] = await connected(both);
      await outgoing.hangup();
      await incoming.ended();
      callids.push(outgoing.callId);
    }
    return callids;
  }

  /** A call that goes on, as each of the two has it. */
  async function connected([alice, bob]: [Phone, Phone]): Promise<[OutgoingCall, IncomingCall]> {
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    return [outgoing, incoming];
  }

  const callidsOf = (records: readonly Shown[]): unknown[] =>
    records.map(({ legs }) => (legs[0] as unknown as { callid: string }).callid);

  describe('PostgreSQL', () => {
    let server: PostgresServer;
    before(async function () {
      this.timeout(60_000);
      const found = await postgresServer();
      if (found !== undefined) server = found;
      else if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error('PostgreSQL is not installed.');
      else this.skip();
    });

    it('paused under calls loses and doubles none', async function () {
      this.timeout(90_000);
      const from = Date.now();
      const at = await start({ DATABASE_URL: await server.createDatabase() });
      const pair = await phonesOf(at);
      const rest = await at.login();
      const callids = await callOften(pair, 3);
      await awaitRecords(rest, from, 3);
      const goOn = server.pause();
      try {
        callids.push(...(await callOften(pair, 4)));
        // A reader lets the writer begin, which waits for the database, as its reader does.
        const reading = rest.get(HISTORY);
        callids.push(...(await callOften(pair, 4)));
        const { history } = (await at.health()) as HistoryHealth;
        expect(history.waiting).to.equal(8);
        const metrics = await (await fetch(`${at.base}/metrics`)).text();
        expect(metrics)
          .to.match(/^ringmaster_history_calls_waiting 8$/m)
          .and.match(/^ringmaster_history_calls_dropped_total 0$/m);
        goOn();
        expect((await reading).status).to.equal(200);
      } finally {
        goOn();
      }
      callids.push(...(await callOften(pair, 2)));
      const records = await awaitRecords(rest, from, 13);
      expect(callidsOf(records)).to.have.members(callids);
      expect(new Set(records.map(({ result }) => result))).to.deep.equal(new Set(['answered']));
      await eventually(async () => {
        expect(((await at.health()) as HistoryHealth).history).to.deep.equal({ state: 'ok', waiting: 0, dropped: 0 });
      });
      rest.close();
    });

    it('paused, and the node killed meanwhile: the next start writes the calls', async function () {
      this.timeout(90_000);
      const from = Date.now();
      const at = await start({ DATABASE_URL: await server.createDatabase() });
      const pair = await phonesOf(at);
      const before = await at.login();
      const goOn = server.pause();
      let callids: string[];
      try {
        callids = await callOften(pair, 4);
        // The writer is at work.
        const reading = before.get(HISTORY).catch(() => undefined);
        callids.push(...(await callOften(pair, 2)));
        await at.kill();
        await reading;
      } finally {
        goOn();
      }
      await at.restart();
      const rest = await at.login();
      expect(callidsOf(await awaitRecords(rest, from, 6))).to.have.members(callids);
      await at.stop();
      await at.restart();
      const again = await at.login();
      expect(await awaitRecords(again, from, 6)).to.have.length(6);
      before.close();
      rest.close();
      again.close();
    });
  });

  it('a node killed during a call records it at the next start as node_died', async function () {
    this.timeout(90_000);
    const from = Date.now();
    const at = await start();
    const [talking, taken] = await connected(await phonesOf(at));
    await at.kill();
    talking.abandon();
    taken.abandon();
    await at.restart();
    const rest = await at.login();
    const [record] = await awaitRecords(rest, from, 1);
    expect(record).to.include({
      result: 'node_died',
      ended: null,
      talking_ms: null,
      caller_number: '101',
      called_number: '102',
      ended_by: 'lost',
    });
    expect(record?.answered).to.be.a('string');
    rest.close();
  });

  it('a node that is stopped during a call writes its record first', async function () {
    this.timeout(90_000);
    const from = Date.now();
    const at = await start();
    const [talking] = await connected(await phonesOf(at));
    await at.stop();
    await talking.ended();
    await at.restart();
    const rest = await at.login();
    const [record] = await awaitRecords(rest, from, 1);
    expect(record).to.include({ result: 'answered', ended_by: 'external' });
    rest.close();
  });
});
