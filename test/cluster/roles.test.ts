import { expect } from 'chai';
import { expectError, expectTalk } from '../e2e/expectations.ts';
import type { Dialog } from '../support/dialog.ts';
import { followEvents } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { CALLS } from '../support/stage.ts';
import { useCluster } from './support/test-cluster.ts';

const SCRIPTS = '/rest/v1/domain/ivrscripts';
const HOOKS = '/rest/v1/api/hooks';
const RUNS = '/rest/v1/api/runs';
const ECHO = '501';

const SCENARIOS = {
  ringing: `
start: ring
blocks:
  ring: { ring: , next: pause }
  pause: { wait: 10m, next: end }
`,
  hooked: `
starts: { hook: true }
start: pause
blocks:
  pause: { wait: 10m, next: end }
`,
};

/** With nats-server and PostgreSQL: requireNats. */
describe('nodes with some roles', function () {
  this.timeout(60_000);
  const cluster = useCluster(3, ['mware', 'b2b,esg,callstore', 'conf,ivr']);
  const count = async (at: number, name: string) => (await cluster().node(at).node.health()).counts[name] ?? 0;
  const rest = () => cluster().node(0).rest;
  const calls = async (): Promise<Dialog[]> => (await rest().get(CALLS)).json<Dialog[]>();

  before(async () => {
    for (const [code, source] of Object.entries(SCENARIOS)) {
      const body = { code, name: code, scriptdata: { format: 'yaml', source } };
      expect(await rest().send('POST', SCRIPTS, { body }), code).to.include({ status: 200 });
    }
  });
  const noCalls = (): Promise<void> =>
    eventually(async () => {
      expect(await calls()).to.deep.equal([]);
      for (const at of [0, 1, 2]) expect(await count(at, 'endpoints'), `endpoints of node ${at}`).to.equal(0);
    }, 10_000);

  it('take calls at each SIP server from the first moment on, and after a restart as soon as /healthz says so', async () => {
    const phones = [await cluster().phone('alice', 0), await cluster().phone('bob', 1)];
    const talk = async (): Promise<void> => {
      for (const phone of phones) {
        const call = await phone.call(ECHO);
        await call.answered();
        await call.hangup();
      }
    };
    await talk();
    for (const { node } of cluster().nodes) {
      await node.stop(30_000);
      await node.restart();
      await talk();
    }
    await cluster().joined();
    await noCalls();
  });

  it('show them in /healthz and GET /api/cluster', async () => {
    const healths = await Promise.all(cluster().nodes.map(({ node }) => node.health()));
    expect(healths.map((health) => (health as unknown as { roles: string[] }).roles)).to.deep.equal([
      ['mware'],
      ['b2b', 'esg', 'callstore'],
      ['conf', 'ivr'],
    ]);
    const admin = await cluster().node(0).node.login();
    const { nodes } = (await admin.get('/rest/v1/api/cluster')).json<{ nodes: { node: string; roles: string[] }[] }>();
    admin.close();
    expect(nodes.map(({ node, roles }) => `${node} ${roles.join()}`)).to.have.members([
      'n1 mware',
      'n2 b2b,esg,callstore',
      'n3 conf,ivr',
    ]);
  });

  it('serve REST, the console and events with mware alone, and health in any case', async () => {
    for (const [at, status] of [200, 404, 404].entries()) {
      const { base } = cluster().node(at).node;
      expect((await fetch(`${base}/`)).status, `console of node ${at}`).to.equal(status);
      expect((await fetch(`${base}/healthz`)).status, `health of node ${at}`).to.equal(200);
      const login = await fetch(`${base}/rest/v1/iam/sessions`, { method: 'POST', body: '{}' });
      expect(login.status === 404, `REST of node ${at}`).to.equal(status === 404);
    }
  });

  it('take calls of phones with b2b alone, and start there what REST asks for elsewhere', async () => {
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    for (let call = 0; call < 3; call += 1) {
      const talk = await alice.call('102');
      const callee = await bob.incoming();
      await callee.answer();
      await talk.answered();
      await eventually(async () => expect(await calls()).to.have.lengthOf(1));
      expect(await count(1, 'dialogs'), 'calls of the node with b2b').to.equal(1);
      await expectTalk(talk, callee);
      await talk.hangup();
      await eventually(async () => expect(await calls()).to.deep.equal([]));
    }
    const asked = rest().send('POST', CALLS, { body: { from: '101', to: '102', response_mode: 0 } });
    const first = await alice.incoming();
    await first.answer();
    const second = await bob.incoming();
    await second.answer();
    expect((await asked).status).to.equal(200);
    await expectTalk(first, second);
    expect(await count(1, 'dialogs')).to.equal(1);
    const [{ dialogid } = expect.fail(), ...more] = await calls();
    expect(more).to.deep.equal([]);
    expect(await rest().send('DELETE', `${CALLS}/${dialogid}`)).to.include({ status: 200 });
    await Promise.all([first.ended(), second.ended()]);
    await noCalls();
  });

  it('run scenarios that phones call with ivr alone', async () => {
    const alice = await cluster().knownPhone('alice', 0);
    const call = await alice.call(ECHO);
    await call.answered();
    call.play(1000);
    await call.hears(1000);
    expect([await count(1, 'dialogs'), await count(1, 'lent_phones'), await count(2, 'dialogs')]).to.deep.equal([
      0, 1, 1,
    ]);
    expect(await calls()).to.have.lengthOf(1);
    await call.hangup();
    await noCalls();
    expect(await count(1, 'lent_phones')).to.equal(0);
  });

  it('end a scenario that rings elsewhere when its caller hangs up', async () => {
    const alice = await cluster().knownPhone('alice', 0);
    const call = await alice.call('*55ringing');
    await call.ringing();
    expect(await count(2, 'dialogs')).to.equal(1);
    await call.cancel();
    await eventually(async () => expect(await count(2, 'runs')).to.equal(0));
    await noCalls();
  });

  it('keep rooms with conf alone, and start what a hook asks for with ivr alone', async () => {
    const [alice, bob] = [await cluster().knownPhone('alice', 0), await cluster().knownPhone('bob', 1)];
    const inside = [await alice.call('*7031'), await bob.call('*7031')];
    for (const each of inside) await each.answered();
    expect(await cluster().roomNodes()).to.deep.equal([2]);
    inside[0]?.play(1000);
    await inside[1]?.hears(1000);
    for (const each of inside) await each.hangup();
    await noCalls();
    const { run } = (await rest().send('POST', `${HOOKS}/hooked?wait=0`, { body: {} })).json<{ run: string }>();
    expect(await count(2, 'runs')).to.equal(1);
    expect((await rest().get(`${RUNS}/${run}`)).json()).to.include({ scenario: 'hooked' });
  });

  it('refuse a caller once whose scenario dies with its node, and leave a talking one to the scenario when the other node dies', async () => {
    const alice = await cluster().knownPhone('alice', 0);
    const { node } = cluster().node(0);
    const feed = await followEvents<{ dialogid: string }>({ node, rest }, 'callevents.call_end');
    const ringing = await eventually(async () => {
      const call = await alice.call('*55ringing');
      // Until its node knows the scenario, it is refused.
      await call.ringing();
      return call;
    });
    const [{ dialogid } = expect.fail()] = await calls();
    await cluster().node(2).node.kill();
    expect((await ringing.refused()).status).to.equal(503);
    await eventually(async () => {
      expect(await calls()).to.deep.equal([]);
      expect(feed.seen.filter((each) => each.dialogid === dialogid)).to.have.lengthOf(1);
    });
    await cluster().node(2).node.restart();
    await cluster().joined();
    await eventually(async () => {
      const records = (await rest().get('/rest/v1/uc/history')).json<{ dialogid: string }[]>();
      expect(records.filter((each) => each.dialogid === dialogid)).to.have.lengthOf(1);
    });
    expect(feed.seen.filter((each) => each.dialogid === dialogid)).to.have.lengthOf(1);
    feed.close();

    const talking = await alice.call(ECHO);
    await talking.answered();
    talking.play(1000);
    await talking.hears(1000);
    await cluster().node(1).node.kill();
    await eventually(async () => expect(await node.health()).to.have.nested.property('cluster.nodes', 2));
    talking.play(600);
    await talking.hears(600);
    expect(await count(2, 'dialogs')).to.equal(1);
    await talking.hangup();
    await eventually(async () => expect(await count(2, 'dialogs')).to.equal(0));
    await cluster().node(1).node.restart();
    await cluster().joined();
  });

  it('have call control until the last node with callstore is gone: 503', async () => {
    await cluster().node(1).node.kill();
    await eventually(async () => expectError(await rest().get(CALLS), 503, 1503), 10_000);
    const begun = await rest().send('POST', CALLS, { body: { from: '101', to: '102' } });
    expectError(begun, 503, 1503);
    expect(begun.text).to.include('callstore');
  });
});

describe('a single node with some roles', function () {
  this.timeout(60_000);

  it('without callstore answers call control with 503, and takes calls', async () => {
    const node = await TestNode.start({ env: { RINGMASTER_ROLES: 'mware, b2b' }, embedded: true });
    const rest = await node.login();
    for (const path of [CALLS, '/rest/v1/user/sip/calls', `${CALLS}/1`]) expectError(await rest.get(path), 503, 1503);
    expectError(await rest.send('POST', CALLS, { body: { from: '101', to: '102' } }), 503, 1503);
    expectError(await rest.send('LOOKUP', CALLS, { body: { from: '101' } }), 503, 1503);
    expect((await rest.get('/rest/v1/domain/sipusers')).status).to.equal(200);
    rest.close();
    await node.remove();
  });
});
