import { connect } from '@nats-io/transport-node';
import { expect } from 'chai';
import type { RunView } from '../../runtime/runs/index.ts';
import { openStorage, type Storage } from '../../runtime/storage/index.ts';
import { expectError, expectTalk } from '../e2e/expectations.ts';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { Phone } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useCluster } from './support/test-cluster.ts';

const RUNS = '/rest/v1/api/runs';
const HOOKS = '/rest/v1/api/hooks';
const AGENTS = '/rest/v1/uc/agents';
const QUEUES = '/rest/v1/uc/queues';
/** Music, and what a caller hears in its turn, in Hertz. */
const MUSIC = 1500;
const TURN = 1000;
/** Callers in the order of their calls. */
const ORDER = ['101', '102', '104'];

/** Scenarios of the domain, which every node has. */
const SCENARIOS = {
  listener: `
starts: { hook: true }
start: got
blocks:
  got:
    receive: { message: order, timeout: 60s }
    exits: { next: waited, timeout: end }
  waited:
    wait_event: { event: ready, where: { order: "7" }, timeout: 60s }
    exits: { next: done, timeout: end }
  done:
    return: { data: "\${got.data}", from: "\${got.from}", event: "\${waited.data}" }
`,
  sleeper: "export default () => sleep('key' in secrets ? '10m' : '20m');",
  patient: `
starts: { hook: true }
variables: { count: 0 }
start: first
blocks:
  first: { set: { count: "\${count + 1}" }, next: got }
  got:
    receive: { message: order, timeout: 10m }
    exits: { next: done, timeout: end }
  done:
    return: { data: "\${got.data}", count: "\${count}" }
`,
  caller: `
starts: { hook: true }
parameters: { to: { type: string } }
start: tell
blocks:
  tell:
    send: { to: "\${to}", message: order, data: { number: 7 } }
    exits: { next: pause, gone: missed }
  pause:
    wait: 300ms
    next: announce
  announce:
    publish: { event: ready, data: { order: "7" } }
    next: end
  missed:
    return: gone
`,
  awaiting: `
starts: { hook: true }
parameters: { of: { type: string } }
start: waiting
blocks:
  waiting:
    await_run: { run: "\${of}", timeout: 60s }
    exits: { next: done, timeout: end, error: failed }
  done:
    return: "\${waiting.value}"
  failed:
    return: "\${error.code}"
`,
  ring: `
starts: { hook: true }
parameters: { to: { type: integer } }
start: ring
blocks:
  ring:
    call: { to: "\${to}", caller_id: "100", timeout: 20s }
    exits: { answered: talk, refused: end }
  talk: { wait: 300ms, next: done }
  done: { return: answered }
`,
  counted: `
starts: { event: counted }
start: found
blocks:
  found:
    return: started
`,
  line: `
parameters: { priority: { type: integer, default: 0 } }
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: cluster, agents: ["103"], priority: "\${priority}", ring: 20s, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { served: end }
`,
  urgent: `
start: line
blocks:
  line: { serve: { scenario: line, args: { priority: 5 } }, next: end }
`,
  turns: `
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: turns, sounds: "tone:%(500,0,${MUSIC})" }
    exits: { turn: turn, timeout: end }
  turn: { play: "tone:%(60000,0,${TURN})", next: end }
`,
  hunt: `
start: pick_up
blocks:
  pick_up:
    hunt: { members: ["102", "103"], strategy: least_recent, timeout: 20s }
    exits: { answered: end, failed: end }
`,
  listen: `
start: pick_up
blocks:
  pick_up: { answer: , next: listen }
  listen: { supervise: { agent: "103", mode: barge }, exits: { ended: end, idle: end } }
`,
  count: `
starts: { hook: true }
start: announce
blocks:
  announce:
    publish: { event: counted }
    next: end
`,
};

/** With nats-server and PostgreSQL: requireNats. */
describe('runs in a cluster', function () {
  this.timeout(60_000);
  const cluster = useCluster(2);

  /** A run that waits until its node dies. */
  let patient = '';
  let database: Storage | undefined;
  const rest = (at: number): RestClient => cluster().node(at).rest;
  before(async () => {
    for (const [code, source] of Object.entries(SCENARIOS)) {
      const isModule = source.startsWith('export');
      const body = { code, name: code, scriptdata: { format: isModule ? 'js' : 'yaml', source } };
      const path = isModule || source.includes('starts:') ? 'svcscripts' : 'ivrscripts';
      const made = await rest(0).send('POST', `/rest/v1/domain/${path}`, { body });
      expect(made.status, made.text).to.equal(200);
    }
    patient = await begin(0, 'patient');
    database = await openStorage({ dataDir: 'unused', databaseUrl: cluster().databaseUrl, poolSize: 1 });
  });
  after(() => database?.close());

  /** Starts a scenario at a node, and does not wait for its end. @returns the run's id */
  async function begin(at: number, code: string, args: object = {}): Promise<string> {
    const started = await eventually(async () => {
      const answer = await rest(at).send('POST', `${HOOKS}/${code}?wait=0`, { body: args });
      // A short one is over already.
      expect(answer.status, answer.text).to.be.oneOf([200, 202]);
      return answer;
    });
    return started.header('run-id') ?? '';
  }

  const valueOf = (at: number, run: string) =>
    eventually(async () => {
      const { outcome } = (await rest(at).get(`${RUNS}/${run}`)).json<RunView>();
      expect(outcome?.status).to.equal('completed');
      return outcome?.value;
    });

  it('are listed and read at every node', async () => {
    const run = await begin(0, 'listener');
    for (const at of [0, 1]) {
      const filter = JSON.stringify({ status: 'running', scenario: 'listener' });
      const listed = (await rest(at).get(RUNS, { filter })).json<{ id: string }[]>();
      expect(listed.map(({ id }) => id)).to.deep.equal([run]);
      expect((await rest(at).get(RUNS, { filter, countonly: true })).json()).to.deep.equal({ count: 1 });
      const read = (await rest(at).get(`${RUNS}/${run}`)).json<RunView>();
      expect(read.trace.map(({ block }) => block)).to.deep.equal(['got']);
      expectError(await rest(at).get(`${RUNS}/nothing`), 404, 1404);
    }
    await begin(0, 'caller', { to: run });
    await valueOf(1, run);
  });

  it('get messages and events from runs of another node, which can wait for their end', async () => {
    const listening = await begin(0, 'listener');
    const awaiting = await begin(1, 'awaiting', { of: listening });
    const telling = await begin(1, 'caller', { to: listening });
    const heard = { data: { number: 7 }, from: telling, event: { order: '7' } };
    expect(await valueOf(1, listening)).to.deep.equal(heard);
    expect(await valueOf(0, awaiting)).to.deep.equal(heard);
    // It is over.
    expect(await valueOf(0, await begin(1, 'caller', { to: listening }))).to.equal('gone');
    expect(await valueOf(0, await begin(1, 'awaiting', { of: listening }))).to.deep.equal(heard);
    expect(await valueOf(0, await begin(1, 'awaiting', { of: 'nothing' }))).to.equal('no_such_run');
  });

  it('start once by an event', async () => {
    await valueOf(1, await begin(0, 'count'));
    await eventually(async () => {
      const filter = JSON.stringify({ scenario: 'counted' });
      const listed = (await rest(1).get(RUNS, { filter })).json<{ status: string }[]>();
      expect(listed.map(({ status }) => status)).to.deep.equal(['completed']);
    });
  });

  /** A call that hears the queue's music. SIP servers give calls to the nodes in turn. */
  async function waiting(phone: Phone, code: string): Promise<OutgoingCall> {
    const call = await phone.call(`*55${code}`);
    await call.hears(MUSIC);
    return call;
  }

  /** Calls of each node itself. */
  const own = () => Promise.all(cluster().nodes.map(async ({ node }) => (await node.health()).counts['dialogs'] ?? 0));
  const statusAt = async (at: number): Promise<string> =>
    (await rest(at).get(`${AGENTS}/103`)).json<{ status: string }>().status;
  const lengthAt = async (at: number, queue: string): Promise<number> =>
    (await rest(at).get(QUEUES)).json<{ id: string; length: number }[]>().find(({ id }) => id === queue)?.length ?? 0;

  it('start at another node where a node has no room', async () => {
    const [alice, { node }] = [await cluster().knownPhone('alice', 0), cluster().node(0)];
    const [bob, carol] = [await cluster().knownPhone('bob', 0), await cluster().knownPhone('carol', 0)];
    // A call at each node: without one, a node that drains ends.
    const calls = [await bob.call('*55turns'), await carol.call('*55turns')];
    for (const call of calls) await call.answered();
    const operator = await RestClient.login(node.base, { domain: 'master', login: 'admin', pwd: 'demo-admin' });
    await operator.send('POST', '/rest/v1/api/drain', { body: { seconds: 60 } });
    const invalid = await rest(0).send('POST', `${HOOKS}/ring`, { body: { to: 'alice' } });
    expect(expectError(invalid, 400, 1400).error_details?.field).to.equal('to');
    const asked = rest(0).send('POST', `${HOOKS}/ring`, { body: { to: 101 } });
    await (await alice.incoming()).answer();
    expect((await cluster().node(1).node.health()).counts['dialogs']).to.equal(2);
    const answer = await asked;
    expect(answer.json()).to.equal('answered');
    const run = answer.header('run-id') ?? '';
    for (const at of [0, 1]) expect(await valueOf(at, run)).to.equal('answered');
    expect((await operator.send('DELETE', '/rest/v1/api/drain')).status).to.be.oneOf([200, 204]);
    operator.close();
    for (const call of calls) await call.hangup();
  });

  it('share queues: agents of one line get the callers of all nodes, in order', async () => {
    const [alice, bob, dave] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('dave', 0),
    ];
    const carol = await cluster().knownPhone('carol', 1);
    expect((await rest(0).send('PUT', `${AGENTS}/103`, { body: { state: 'away' } })).status).to.equal(200);
    const first = await waiting(alice, 'line');
    const second = await waiting(bob, 'line');
    const third = await waiting(dave, 'urgent');
    expect(await own()).to.have.members([1, 2]);
    for (const at of [0, 1]) {
      expect(await lengthAt(at, 'cluster')).to.equal(3);
      expect(await statusAt(at)).to.equal('away');
    }
    expect((await rest(1).send('PATCH', `${AGENTS}/103`, { body: { state: 'ready' } })).status).to.equal(200);
    for (const [caller, number] of [
      [third, '104'],
      [first, '101'],
      [second, '102'],
    ] as const) {
      const agent = await carol.incoming();
      expect(agent.callerId).to.equal(number);
      for (const at of [0, 1]) expect(await statusAt(at)).to.equal('ringing');
      await agent.answer();
      await expectTalk(caller, agent);
      for (const at of [0, 1]) expect(await statusAt(at)).to.equal('talking');
      expect(carol.waitingCalls).to.equal(0);
      await caller.hangup();
      await agent.ended();
    }
    for (const at of [0, 1]) {
      await eventually(async () => expect(await statusAt(at)).to.equal('ready'));
      expect(await lengthAt(at, 'cluster')).to.equal(0);
    }
  });

  it('share turns: the next caller, at another node, has its turn when the place before it is free', async () => {
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 0)];
    const first = await alice.call('*55turns');
    await first.hears(TURN);
    const second = await waiting(bob, 'turns');
    expect(await own()).to.deep.equal([1, 1]);
    await first.hangup();
    await second.hears(TURN);
    await second.hangup();
  });

  it('hunt the member whose last call is longest ago, at whichever node that was', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('carol', 1),
    ];
    const nats = await connect({ servers: cluster().nats.url });
    // The nodes tell each other before the next call.
    const told = nats.subscribe('ringmaster.v1.all.hunts', { max: 4 })[Symbol.asyncIterator]();
    await nats.flush();
    const nodes = new Set<string>();
    try {
      for (const member of [bob, carol, bob, carol]) {
        const caller = await alice.call('*55hunt');
        const incoming = await member.incoming();
        await incoming.answer();
        await caller.answered();
        await told.next();
        await expectTalk(caller, incoming);
        nodes.add(String(await own()));
        await caller.hangup();
        await incoming.ended();
      }
    } finally {
      await nats.close();
    }
    // The calls went to the nodes in turn. Each by itself would ring bob twice, then carol.
    expect([...nodes]).to.have.members(['0,1', '1,0']);
  });

  it('supervise an agent whose call is at another node', async () => {
    const [alice, bob, carol] = [
      await cluster().knownPhone('alice', 0),
      await cluster().knownPhone('bob', 0),
      await cluster().knownPhone('carol', 1),
    ];
    const caller = await alice.call('*55line');
    const agent = await carol.incoming();
    await agent.answer();
    await expectTalk(caller, agent);
    // The agent's call counts at the caller's node. The next call is for the other one.
    const supervisor = await bob.call('*55listen');
    await supervisor.answered();
    expect(await own()).to.have.members([2, 1]);
    await expectTalk(supervisor, agent);
    await caller.hangup();
    await supervisor.ended();
  });

  it('queue at their own node without NATS, and in one line again when it is back', async () => {
    const [alice, carol] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('carol', 1)];
    await rest(0).send('PUT', `${AGENTS}/103`, { body: { state: 'away' } });
    const caller = await waiting(alice, 'line');
    await cluster().nats.stop();
    // One of the two nodes has the caller, and it alone knows.
    await eventually(async () => {
      for (const at of [0, 1]) expectError(await rest(at).get(QUEUES), 503, 1503);
    });
    for (const at of [0, 1]) await rest(at).send('PUT', `${AGENTS}/103`, { body: { state: 'ready' } });
    const agent = await carol.incoming();
    await agent.answer();
    await expectTalk(caller, agent);
    await cluster().nats.start();
    await cluster().joined();
    for (const at of [0, 1]) await eventually(async () => expect(await statusAt(at)).to.equal('talking'));
    await caller.hangup();
    await agent.ended();
    for (const at of [0, 1]) await eventually(async () => expect(await statusAt(at)).to.equal('ready'));
  });

  it('survive the death of the node that keeps the queues, in their places', async () => {
    const [alice, bob, dave] = [
      await cluster().knownPhone('alice', 1),
      await cluster().knownPhone('bob', 1),
      await cluster().knownPhone('dave', 1),
    ];
    const carol = await cluster().knownPhone('carol', 1);
    const awaitingPatient = await begin(1, 'awaiting', { of: patient });
    await rest(0).send('PUT', `${AGENTS}/103`, { body: { state: 'away' } });
    const callers = [await waiting(alice, 'line'), await waiting(bob, 'line'), await waiting(dave, 'line')];
    // No node can go on with a module that uses secrets.
    const awaiting = await begin(1, 'awaiting', { of: await begin(0, 'sleeper') });
    expect(await lengthAt(1, 'cluster')).to.equal(3);
    const [lost, left] = await own();
    const kept = () => database?.db.selectFrom('waiting_runs').select('run').execute();
    await eventually(async () => expect(await kept()).to.deep.include({ run: patient }));
    // The first node came first, so it keeps the queues.
    await cluster().node(0).node.kill();
    await eventually(async () => expect(await lengthAt(1, 'cluster')).to.equal(left), 20_000);
    expect(await valueOf(1, awaiting)).to.equal('no_such_run');
    // The other node goes on with it, under its id and with its values.
    await eventually(async () =>
      expect(await valueOf(1, await begin(1, 'caller', { to: patient }))).not.to.equal('gone'),
    );
    expect(await valueOf(1, awaitingPatient)).to.deep.equal({ data: { number: 7 }, count: 1 });
    const { trace } = (await rest(1).get(`${RUNS}/${patient}`)).json<RunView>();
    expect(trace.map(({ block, exit }) => [block, exit])).to.deep.equal([
      ['first', 'next'],
      ['got', 'next'],
      ['done', 'returned'],
    ]);
    expect(await kept()).not.to.deep.include({ run: patient });
    expect((await rest(1).send('PATCH', `${AGENTS}/103`, { body: { state: 'ready' } })).status).to.equal(200);
    const served: string[] = [];
    for (let at = 0; at < (left ?? 0); at += 1) {
      const agent = await carol.incoming();
      served.push(agent.callerId);
      await agent.answer();
      await agent.hangup();
    }
    expect(served).to.deep.equal(served.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
    await cluster().node(0).node.restart();
    await cluster().joined();
    await eventually(async () => expect(await lengthAt(0, 'cluster')).to.equal(0));
    expect((lost ?? 0) + (left ?? 0)).to.equal(3);
    for (const caller of callers) caller.abandon();
  });
});
