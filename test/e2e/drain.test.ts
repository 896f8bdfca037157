import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from '../cli/command.ts';
import { Phone } from '../phones/phone.ts';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { CALLS, NUMBERS } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const REMIND = `id: remind
starts: { hook: true }
start: ring
blocks:
  ring:
    call: { to: "103", caller_id: "100" }
    exits: { answered: end, refused: end }
`;
/** Longer than copies of one signal may be apart. */
const NOT_A_COPY_MS = 1100;

describe('a node that drains', function () {
  this.timeout(90_000);
  const scenarios = temporaryFolder();
  let node: TestNode;
  let phones: Phone[];

  async function start(env: Readonly<Record<string, string>>): Promise<void> {
    node = await TestNode.start({ env });
    phones = [];
    for (const login of ['alice', 'bob', 'carol'] as const) {
      const phone = await Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: node.sip });
      phones.push(phone);
      expect((await phone.register()).status).to.equal(200);
    }
  }

  afterEach(async () => {
    for (const phone of phones) await phone.stop({ abruptly: true });
    await node.kill();
    await node.remove();
  });

  async function connected([alice, bob]: readonly Phone[]) {
    const outgoing = await alice!.call(NUMBERS.bob);
    const incoming = await bob!.incoming();
    await incoming.answer();
    await outgoing.answered();
    return { outgoing, incoming };
  }

  async function healthz(): Promise<{ status: number; error_details: Record<string, unknown> }> {
    const answer = await fetch(`${node.base}/healthz`);
    return { ...((await answer.json()) as { error_details: Record<string, unknown> }), status: answer.status };
  }

  /** Sends a signal; the drain has begun when /healthz says so. */
  async function drainBy(signal: NodeJS.Signals): Promise<void> {
    process.kill(node.pid ?? 0, signal);
    await eventually(async () => expect((await healthz()).error_details['state']).to.equal('draining'));
  }

  it('refuses new calls, and lets running calls, their operations and registrations go on', async () => {
    await start({ RINGMASTER_DRAIN: '60' });
    const [alice, bob, carol] = phones as [Phone, Phone, Phone];
    const rest = await node.login();
    const { outgoing, incoming } = await connected(phones);
    const exit = node.ended;
    await drainBy('SIGTERM');
    const health = await healthz();
    expect(health.status).to.equal(503);
    expect(health.error_details).to.include({ state: 'draining', calls: 1, database: 'ok' });
    expect(health.error_details['reason']).to.equal('the node is draining, 1 call and 0 runs left');

    expect(await (await carol.call('101')).refused()).to.include({ status: 503 });
    const probed = await carol.request('OPTIONS');
    expect(probed).to.include({ status: 503 });
    expect(probed.headers).to.deep.include({ name: 'Retry-After', value: '30' });
    const refused: RestAnswer = await rest.send('POST', CALLS, { body: { from: '103', to: '101' } });
    expectError(refused, 503, 1503);
    expect(refused.header('retry-after')).to.equal('30');
    expect(refused.text).to.contain('draining');
    expect([alice.waitingCalls, carol.waitingCalls]).to.deep.equal([0, 0]);

    expect((await carol.register()).status).to.equal(200);
    expect((await outgoing.request('OPTIONS')).status).to.equal(200);
    expect((await rest.send('LOOKUP', CALLS, { body: { from: '101' } })).status).to.equal(200);
    const [dialog] = (await rest.get(CALLS)).json<{ dialogid: string; acallid: string }[]>();
    const asked = rest.send('REFER', `${CALLS}/${dialog?.dialogid}`, {
      body: { by: dialog?.acallid, referto: NUMBERS.carol, response_mode: 4 },
    });
    const arriving = await carol.incoming();
    await arriving.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await outgoing.ended();

    await arriving.hangup();
    await incoming.ended();
    expect(await exit).to.equal(0);
    expect([...alice.violations, ...bob.violations, ...carol.violations]).to.deep.equal([]);
  });

  it('ends 50 calls with BYE at the end of its time', async () => {
    await start({ RINGMASTER_DRAIN: '1' });
    const calls = [];
    for (let at = 0; at < 50; at += 1) calls.push(await connected(phones));
    const exit = node.ended;
    await drainBy('SIGTERM');
    for (const { outgoing, incoming } of calls) {
      expect((await outgoing.ended(20_000)).by).to.equal('there');
      expect((await incoming.ended(20_000)).by).to.equal('there');
    }
    expect(await exit).to.equal(0);
    expect(phones.flatMap(({ violations }) => violations)).to.deep.equal([]);
  });

  it('does not start scenarios with calls for requests', async () => {
    writeFileSync(join(scenarios, 'remind.yaml'), REMIND);
    await start({ RINGMASTER_DRAIN: '60', RINGMASTER_SCENARIO_DIR: scenarios });
    const { outgoing, incoming } = await connected(phones);
    const rest = await node.login();
    await drainBy('SIGTERM');
    const refused = await rest.send('POST', '/rest/v1/api/hooks/remind', { body: {} });
    expectError(refused, 503, 1503);
    expect(refused.header('retry-after')).to.equal('30');
    await outgoing.hangup();
    await incoming.ended();
  });

  it('drains by `ringmaster drain`, which waits for its end', async () => {
    await start({});
    const { outgoing, incoming } = await connected(phones);
    const exit = node.ended;
    const drain = await Command.run(['drain', '--url', node.base]);
    await drain.printed(/^1 call and 0 runs left, until \d\d:\d\d:\d\d$/m);
    expect((await healthz()).status).to.equal(503);
    await outgoing.hangup();
    await incoming.ended();
    const { code, out, err } = await drain.ended;
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(/No call is left: the node ends\.\n$/);
    expect(await exit).to.equal(0);
  });

  it('`ringmaster drain` says by its exit code that calls were ended', async () => {
    await start({});
    const { outgoing, incoming } = await connected(phones);
    const { code, out } = await (await Command.run(['drain', '--seconds', '1', '--url', node.base])).ended;
    expect({ code, last: out.trim().split('\n').at(-1) }).to.deep.equal({
      code: 3,
      last: 'The node ends with 1 call and 0 runs.',
    });
    expect((await outgoing.ended()).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
  });

  it('takes calls again after `ringmaster drain --cancel`, and drains at the next signal', async () => {
    await start({ RINGMASTER_DRAIN: '60' });
    const [alice, , carol] = phones as [Phone, Phone, Phone];
    const { outgoing, incoming } = await connected(phones);
    await drainBy('SIGTERM');
    await delay(NOT_A_COPY_MS);
    const drain = await Command.run(['drain', '--url', node.base]);
    await drain.printed(/left, until/);
    expect((await (await Command.run(['drain', '--cancel', '--url', node.base])).ended).out).to.equal(
      'The node takes calls.\n',
    );
    expect((await drain.ended).code).to.equal(4);
    expect((await healthz()).status).to.equal(200);
    const call = await carol.call(NUMBERS.alice);
    (await alice.incoming()).reject(486);
    expect(await call.refused()).to.include({ status: 486 });
    const exit = node.ended;
    await drainBy('SIGTERM');
    await outgoing.hangup();
    await incoming.ended();
    expect(await exit).to.equal(0);
  });

  it('is drained over REST by administrators of the master domain only', async () => {
    await start({});
    const { outgoing, incoming } = await connected(phones);
    const admin = await node.login();
    const [domain] = (await admin.get('/rest/v1/domain/domains')).json<{ id: string; name: string }[]>();
    const boss = { domain_id: domain?.id, login: 'boss', pwd: 'demo-boss', roles: ['admin'] };
    expect((await admin.send('POST', '/rest/v1/iam/users', { body: boss })).status).to.be.lessThan(300);
    const path = '/rest/v1/api/drain';
    for (const login of ['alice', 'boss']) {
      const client = await node.login(login);
      for (const method of ['POST', 'DELETE']) expectError(await client.send(method, path), 403, 1401);
    }
    expect((await admin.get(path)).json()).to.deep.equal({ state: 'accepting', calls: 1, runs: 0 });
    expectError(await admin.send('POST', path, { body: { seconds: -1 } }), 400, 1400);
    expect((await admin.send('POST', path)).json()).to.include({ state: 'draining', calls: 1 });
    expect((await admin.send('DELETE', path)).json()).to.include({ state: 'accepting' });
    const exit = node.ended;
    const begun = (await admin.send('POST', path, { body: { seconds: 30 } })).json<{ since: number; until: number }>();
    expect(begun.until - begun.since).to.equal(30_000);
    const last = admin.get(`${path}?wait=60`);
    await outgoing.hangup();
    await incoming.ended();
    expect((await last).json()).to.include({ state: 'ending', calls: 0, runs: 0 });
    expect(await exit).to.equal(0);
  });

  it('ends the remaining call with BYE at the end of its time', async () => {
    await start({ RINGMASTER_DRAIN: '2' });
    const { outgoing, incoming } = await connected(phones);
    const exit = node.ended;
    const begun = performance.now();
    await drainBy('SIGTERM');
    expect((await outgoing.ended(10_000)).by).to.equal('there');
    expect(performance.now() - begun).to.be.greaterThan(1900);
    expect((await incoming.ended()).by).to.equal('there');
    expect(await exit).to.equal(0);
  });

  it('ends at once at the second signal, but not at a copy of the first or at SIGHUP', async () => {
    await start({ RINGMASTER_DRAIN: '60' });
    const { outgoing, incoming } = await connected(phones);
    const exit = node.ended;
    await drainBy('SIGTERM');
    process.kill(node.pid ?? 0, 'SIGTERM');
    await delay(NOT_A_COPY_MS);
    process.kill(node.pid ?? 0, 'SIGHUP');
    expect((await healthz()).error_details).to.include({ state: 'draining', calls: 1 });
    process.kill(node.pid ?? 0, 'SIGTERM');
    expect((await outgoing.ended(10_000)).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
    expect(await exit).to.equal(0);
  });

  it('ends at once when no call is left', async () => {
    await start({ RINGMASTER_DRAIN: '60' });
    const exit = node.ended;
    process.kill(node.pid ?? 0, 'SIGTERM');
    expect(await Promise.race([exit, delay(10_000, 'still up', { ref: false })])).to.equal(0);
  });

  it('waits by default under a service manager', async () => {
    await start({ INVOCATION_ID: '0b1e6f4a' });
    const { outgoing, incoming } = await connected(phones);
    const exit = node.ended;
    await drainBy('SIGTERM');
    expect((await healthz()).error_details).to.include({ calls: 1 });
    await outgoing.hangup();
    await incoming.ended();
    expect(await exit).to.equal(0);
  });
});
