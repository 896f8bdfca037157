import { expect } from 'chai';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Phone } from '../phones/phone.ts';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { CALLS, NUMBERS } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** Longer than copies of one signal may be apart. */
const NOT_A_COPY_MS = 1100;

describe('a node that drains', function () {
  this.timeout(90_000);
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
    return { status: answer.status, ...((await answer.json()) as { error_details: Record<string, unknown> }) };
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

  it('ends the remaining calls with BYE at the end of its time', async () => {
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
