import { expect } from 'chai';
import type { RunView } from '../../runtime/runs/index.ts';
import { expectError } from '../e2e/expectations.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useCluster } from './support/test-cluster.ts';

const RUNS = '/rest/v1/api/runs';
const HOOKS = '/rest/v1/api/hooks';

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
  counted: `
starts: { event: counted }
start: found
blocks:
  found:
    return: started
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

  const rest = (at: number): RestClient => cluster().node(at).rest;
  before(async () => {
    for (const [code, source] of Object.entries(SCENARIOS)) {
      const body = { code, name: code, scriptdata: { format: 'yaml', source: source } };
      const made = await rest(0).send('POST', '/rest/v1/domain/svcscripts', { body });
      expect(made.status, made.text).to.equal(200);
    }
  });

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
      const filter = JSON.stringify({ status: 'running' });
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
    expect(await valueOf(0, await begin(1, 'awaiting', { of: listening }))).to.equal('no_such_run');
  });

  it('start once by an event', async () => {
    await valueOf(1, await begin(0, 'count'));
    await eventually(async () => {
      const filter = JSON.stringify({ scenario: 'counted' });
      const listed = (await rest(1).get(RUNS, { filter })).json<{ status: string }[]>();
      expect(listed.map(({ status }) => status)).to.deep.equal(['completed']);
    });
  });
});
