import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadReport, LoadRun, type LoadPlan, reportOf } from '../../runtime/load/index.ts';
import { Command } from '../cli/command.ts';
import type { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

describe('ringmaster load', function () {
  this.timeout(60_000);
  const stage = useStage();
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-load-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function load(...args: string[]): Promise<Command> {
    return Command.run(['load', '--sip', stage.node.sip, ...args]);
  }

  /** The same without a process of its own. */
  async function run(plan: Partial<LoadPlan>): Promise<LoadReport> {
    return reportOf(await new LoadRun(planOf(plan)).run(), 0);
  }

  /** Two calls from alice to bob, unless the plan says otherwise. */
  function planOf(plan: Partial<LoadPlan>): LoadPlan {
    const [host = '', port] = stage.node.sip.split(':');
    const alice = { login: 'alice', password: 'demo-alice' };
    const bob = { login: 'bob', password: 'demo-bob' };
    return {
      sip: { host, port: Number(port) },
      localHost: '127.0.0.1',
      domain: 'demo.local',
      callers: [alice],
      unregistered: false,
      callee: { kind: 'phones', accounts: [bob], dial: undefined },
      originate: undefined,
      rate: { from: 10, to: 10 },
      calls: 2,
      startMs: 60_000,
      live: 100,
      talkMs: 500,
      ringMs: 0,
      soundEvery: 1,
      allowNetwork: false,
      ...plan,
    };
  }

  it('calls from phone to phone with sound both ways, and writes reports as text, JSON and HTML', async () => {
    const [json, html] = [join(folder, 'report.json'), join(folder, 'report.html')];
    const args = ['--ramp', '5-15', '--calls', '10', '--talk', '500ms', '--json', json, '--html', html];
    const { code, out, err } = await (await load(...args)).ended;
    expect(code, out + err).to.equal(0);
    expect(out)
      .to.match(/^calls {11}10 tried, 10 answered, 0 failed$/m)
      .and.match(/^sound {11}10 calls checked, 10 right$/m);
    expect(out).to.match(/\nPASSED: 0 calls failed, 0 may\n$/);
    const report = JSON.parse(await readFile(json, 'utf8')) as LoadReport;
    expect(report.calls).to.deep.equal({ tried: 10, answered: 10, good: 10, failed: 0, cutShort: 0 });
    const { ringing, answered, sound } = report.setup;
    expect([ringing?.count, answered?.count, sound?.count]).to.deep.equal([10, 10, 10]);
    expect(sound?.p50).to.be.above(answered?.p50 ?? Infinity);
    expect(report.received.caller.packets).to.be.above(100);
    expect(report.received.called.packets).to.be.above(100);
    expect(report.timeline.reduce((sum, { started }) => sum + started, 0)).to.equal(10);
    const page = await readFile(html, 'utf8');
    expect(page.match(/<svg /g)).to.have.length(4);
    expect(page)
      .to.contain('prefers-color-scheme: dark')
      .and.not.match(/<script|https?:|src=|@import|url\(/);
  });

  it('hears its own tone from a scenario that echoes, with the password at each call', async () => {
    const callers = [{ login: 'dave', password: 'demo-dave' }];
    const report = await run({
      callers,
      unregistered: true,
      callee: { kind: 'number', number: '501', hears: 'own' },
      calls: 10,
      live: 3,
    });
    expect(report.calls, JSON.stringify(report.failures)).to.include({ tried: 10, good: 10 });
    expect(report.sound).to.deep.equal({ checked: 10, right: 10 });
    expect(report.setup.sound?.count).to.equal(10);
    expect(report.heldBack, 'calls wait for a place').to.be.above(0);
    expect(report.mostLive).to.equal(3);
  });

  it('starts calls by REST between two of its phones', async () => {
    const args = [
      '--originate',
      '--api',
      stage.node.base,
      '--login',
      'admin:demo-admin',
      '--calls',
      '10',
      '--rate',
      '10',
    ];
    const { code, out, err } = await (await load(...args, '--talk', '500ms')).ended;
    expect(code, out + err).to.equal(0);
    expect(out)
      .to.match(/^calls {11}10 tried, 10 answered, 0 failed$/m)
      .and.match(/^sound {11}10 calls checked, 10 right$/m);
    expect(out).to.match(/^ms from the request to/m);
  });

  it('fails with the status of a wrong password', async () => {
    const { code, out } = await (await load('--caller', 'dave:wrong', '--calls', '2')).ended;
    expect(out)
      .to.match(/^not registered {2}dave: 40[13] /m)
      .and.match(/\nFAILED: /);
    expect(code).to.equal(1);
  });

  it('counts refused calls by status, and calls that are answered in silence', async () => {
    const [busy, silent] = await stage.phones('carol', 'dave');
    const answering = [refuse(busy), answer(silent), answer(silent)];
    const callee = (number: string) => ({ kind: 'number', number, hears: 'own' }) as const;
    const [refused, unheard] = await Promise.all([
      // The time in which calls start is over before the second.
      run({ callee: callee('103'), calls: 1000, rate: { from: 0.2, to: 0.2 }, startMs: 2000 }),
      run({ callers: [{ login: 'bob', password: 'demo-bob' }], callee: callee('104') }),
    ]);
    await Promise.all(answering);
    expect(refused.failures).to.deep.equal([{ reason: 'refused: 486 Busy Here', calls: 1 }]);
    expect(refused).to.deep.include({
      passed: false,
      calls: { tried: 1, answered: 0, good: 0, failed: 1, cutShort: 0 },
    });
    expect(unheard.failures).to.deep.equal([{ reason: 'no sound: the caller hears nothing', calls: 2 }]);
    expect(unheard.calls).to.include({ answered: 2, failed: 2 });
  });

  it('ends the calls and prints the report at Ctrl-C', async () => {
    const command = await load('--calls', '5', '--rate', '20', '--talk', '5m');
    await eventually(async () => expect(await connected()).to.equal(5), 20_000);
    process.kill(command.pid ?? 0, 'SIGINT');
    const { code, out, err } = await command.ended;
    expect(out, err).to.contain('5 tried, 5 answered, 0 failed, 5 cut short by the stop');
    expect(code).to.equal(0);
  });

  it('ends calls that still ring when it is stopped', async () => {
    const ringing = new LoadRun(planOf({ ringMs: 45_000 }));
    const running = ringing.run();
    await eventually(async () => expect(await stage.dialogs()).to.have.length(2), 20_000);
    ringing.stop();
    const outcome = await running;
    expect(reportOf(outcome, 0).calls).to.include({ tried: 2, answered: 0, failed: 0, cutShort: 2 });
    expect(outcome.ms).to.be.below(45_000);
  });

  it('refuses addresses that are not on loopback', async () => {
    const { code, out, err } = await (await Command.run(['load', '--sip', '192.0.2.1:5060'])).ended;
    expect(err).to.match(/^ringmaster load: --sip: "192\.0\.2\.1" is not on loopback .* --allow-network\n$/);
    expect({ code, out }).to.deep.equal({ code: 2, out: '' });
  });

  async function connected(): Promise<number> {
    return (await stage.dialogs()).filter(({ status }) => status === 'dialog').length;
  }

  async function refuse(phone: Phone): Promise<void> {
    (await phone.incoming(20_000)).reject(486);
  }

  async function answer(phone: Phone): Promise<void> {
    const call = await phone.incoming(20_000);
    await call.answer();
    await call.ended(30_000);
  }
});
