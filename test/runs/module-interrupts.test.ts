import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import type { Run } from '../../runtime/runs/run/run.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { silentLog } from '../support/log.ts';
import { services } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What cuts a module short, and what it makes of it. */
describe('interrupted scenario modules', () => {
  let sandbox: Sandbox;
  const folder = temporaryFolder();
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  async function module(body: string, most = 20): Promise<Program> {
    const source = `export const limits = { steps: ${most} };
export default async function (call, args) {
${body}
}
`;
    const { program, problems } = await checkModule(source, { file: path.join(folder, 'm.ts'), components });
    expect(problems.filter(({ severity }) => severity !== 'warning')).to.deep.equal([]);
    return program as Program;
  }

  async function run(body: string, script: CallScript = {}) {
    const simulation = await simulate(await module(body), { script, components, openSandbox: async () => sandbox });
    const events = [...simulation.events.values()].flat().map(({ what }) => what);
    const steps = simulation.run.trace.map(({ block, exit }) => `${block} -> ${exit ?? '?'}`);
    return { ...simulation, events, steps };
  }

  for (const how of [`call.refer('102')`, `call.hunt(['102', '103'])`]) {
    it(`keep their call when they cancel ${how}`, async () => {
      const { outcome, steps, events } = await run(
        `await call.answer();
        const ringing = ${how};
        events.on('dtmf', () => ringing.cancel());
        try { await ringing; } catch (error) { if (error.code !== 'cancelled') throw error; }
        await call.say('still here');
        return (await call.info()).state;`,
        {
          turns: [{ kind: 'press', digits: '0', after: 3000 }],
          phones: { '102': { answers: [{ status: 180, after: 0 }] } },
        },
      );
      expect(outcome.error).to.equal(undefined);
      expect(outcome.value).to.equal('connected');
      expect(steps[1]).to.match(/ -> interrupted$/);
      expect(events.indexOf('say still here')).to.be.greaterThan(events.indexOf('pressed 0'));
    });
  }

  it('end after all their functions, also a cancelled one', async () => {
    const clock = new VirtualClock();
    class SlowToStop extends SimulatedCall {
      override async play(...args: Parameters<SimulatedCall['play']>): ReturnType<SimulatedCall['play']> {
        try {
          return await super.play(...args);
        } finally {
          // Not before the call is over.
          if (!this.endSignal.aborted) await once(this.endSignal, 'abort');
          await clock.busy(setImmediate());
        }
      }
    }
    const call = new SlowToStop(clock);
    const program = await module(`await call.answer();
      const playing = call.holdMusic();
      const code = playing.catch((error) => error.code);
      await sleep('1s');
      playing.cancel();
      return code;`);
    const started = startRun(program, { log: silentLog, clock, call, services: services({ sandbox }) });
    const steps = started.finished.then(() => started.trace.map(({ block, exit }) => `${block} -> ${exit ?? '?'}`));
    expect((await clock.run(started.finished)).value).to.equal('cancelled');
    expect(await steps).to.deep.equal(['call.answer -> next', 'sleep -> next', 'call.holdMusic -> interrupted']);
  });

  it('get the recording up to the hang-up', async () => {
    const { outcome, steps } = await run(
      `await call.answer();
      const { reason, milliseconds, recording } = await call.record({ max: '1m', silence: '0s' });
      await report({ fields: { reason, milliseconds, named: recording.startsWith('recording:') } });
      await call.say('thank you');`,
      { hangsUpAfter: 5000 },
    );
    expect(outcome).to.deep.include({ status: 'ended', reason: 'opponent: hung up' });
    expect(outcome.result).to.deep.equal({ reason: 'hangup', milliseconds: 4000, named: true });
    expect(steps.slice(1)).to.deep.equal(['call.record -> interrupted', 'report -> next', 'call.say -> error']);
  });

  it('get it also when they run as a function of another scenario', async () => {
    const source = `export default async function (call) {
      const { reason } = await call.record({ max: '1m', silence: '0s' });
      await events.publish({ event: 'recorded', data: { reason } });
      try { await call.say('thank you'); } catch (error) { await events.publish(error.code); }
    }`;
    await writeFile(path.join(folder, 'message.js'), source);
    const { outcome, events } = await run(`await call.answer(); await scenario.run('message');`, {
      hangsUpAfter: 5000,
    });
    expect(outcome.status).to.equal('ended');
    expect(events.slice(-2)).to.deep.equal(['publish recorded', 'publish call_ended']);
  });

  it('are interrupted by a hang-up while a further call rings', async () => {
    const { outcome, steps } = await run(
      `await call.answer();
      try { return (await call.call({ to: '102', leg: 'agent' })).exit; }
      catch (error) { await report({ fields: { code: error.code } }); throw error; }`,
      { hangsUpAfter: 2000, phones: { '102': { answers: [{ status: 180, after: 0 }] } } },
    );
    expect(outcome).to.deep.include({ status: 'ended', result: { code: 'call_ended' } });
    expect(steps[1]).to.equal('call.call -> interrupted');
  });

  it('get the code call_ended from every function after the end of the call', async () => {
    const { outcome } = await run(
      `await call.answer();
      const codes = [];
      try { await sleep('1m'); } catch (error) { codes.push(error.code); }
      try { await call.say('anybody?'); } catch (error) { codes.push(error.code); }
      await report({ fields: { codes } });`,
      { hangsUpAfter: 2000 },
    );
    expect(outcome.result).to.deep.equal({ codes: ['call_ended', 'call_ended'] });
  });

  it('finish instant commands, also when the hang-up comes during their cleanup', async () => {
    const program = await module(`
      try { await report('done'); }
      finally {
        await report('saving');
        await report({ fields: { saved: true } });
        try { await sleep('1h'); } catch (error) { await report({ fields: { code: error.code } }); }
      }`);
    const stopped: Run = startRun(program, {
      log: silentLog,
      services: services({ sandbox }),
      report: ({ milestone }) => {
        if (milestone === 'saving') stopped.stop('meanwhile');
      },
    });
    expect((await stopped.finished).result).to.deep.equal({ saved: true, code: 'stopped' });
  });

  it('finish instant commands without await', async () => {
    const { outcome, steps } = await run(`report({ fields: { said: true } });`);
    expect(outcome.result).to.deep.equal({ said: true });
    expect(steps).to.deep.equal(['report -> next']);
  });

  it('get call_ended from a sound that their own hang-up ended', async () => {
    const { outcome, steps } = await run(
      `await call.answer();
      const playing = call.play('tone:%(9000,0,440)').catch((error) => error.code + ': ' + error.message);
      await call.hangup();
      return playing;`,
    );
    expect(outcome.value).to.equal('call_ended: the call was ended by the scenario itself');
    expect(steps).to.include('call.play -> error');
  });

  it('get the end of a further call as an error, and keep their caller', async () => {
    const { outcome } = await run(
      `await call.answer();
      await call.call({ to: '102', leg: 'agent' });
      try { await call.play({ file: 'tone:%(900,0,440)', repeat: 9, leg: 'agent' }); }
      catch (error) { return error.code + ': ' + error.message; }`,
      { phones: { '102': { answers: [{ status: 200, after: 0 }], turns: [{ kind: 'hang_up', after: 3000 }] } } },
    );
    expect(outcome.value).to.equal('call_ended: the call "agent" was ended by the other party');
    expect(outcome.status).to.equal('completed');
  });

  it('get the same error when it ended before', async () => {
    const { outcome } = await run(
      `await call.answer();
      await call.call({ to: '102', leg: 'agent' });
      await sleep('5s');
      const { exit } = await call.bridge('agent');
      try { await call.say({ text: 'there?', leg: 'agent' }); } catch (error) { return [exit, error.code]; }`,
      { phones: { '102': { answers: [{ status: 200, after: 0 }], turns: [{ kind: 'hang_up', after: 3000 }] } } },
    );
    expect(outcome.value).to.deep.equal(['ended', 'call_ended']);
  });

  it('are interrupted once by a hang-up while they wait for an event', async () => {
    const { outcome, steps } = await run(
      `await call.answer();
      try { await events.next('message'); }
      catch (error) { await report({ fields: { code: error.code, line: /m\\.ts:(\\d+)/.exec(error.stack)?.[1] } }); }
      await sleep('1s');
      await events.next('message');`,
      { hangsUpAfter: 5000 },
    );
    expect(outcome).to.deep.include({ status: 'ended', reason: 'opponent: hung up' });
    expect(outcome.result).to.deep.equal({ code: 'call_ended', line: '4' });
    expect(steps.slice(2)).to.deep.equal(['sleep -> next']);
    expect(outcome.milliseconds).to.be.lessThan(70_000);
  });

  it('are interrupted at their next wait for an event when no command was in progress', async () => {
    const program = await module(`
      await report('begun');
      try { await events.next('message'); } catch (error) { await report({ fields: { code: error.code } }); }
      await sleep('10ms');`);
    const stopped: Run = startRun(program, {
      log: silentLog,
      services: services({ sandbox }),
      report: ({ milestone }) => {
        if (milestone === 'begun') stopped.stop('meanwhile');
      },
    });
    const outcome = await stopped.finished;
    expect(outcome).to.deep.include({ status: 'stopped', reason: 'meanwhile' });
    expect(outcome.result).to.deep.equal({ code: 'stopped' });
    expect(stopped.trace.at(-1)).to.deep.include({ block: 'sleep', exit: 'next' });
  });

  it('are stopped before their first command', async () => {
    const program = await module(`await sleep('1h');`);
    const stopped = startRun(program, { log: silentLog, services: services({ sandbox }) });
    await setImmediate();
    stopped.stop('enough');
    const outcome = await stopped.finished;
    expect(outcome).to.deep.include({ status: 'stopped', reason: 'enough' });
    expect(stopped.trace.map(({ block, exit }) => `${block} -> ${exit}`)).to.deep.equal(['sleep -> interrupted']);
  });

  for (const what of ['call.info()', 'scenario.info()', `report('again')`]) {
    it(`are stopped while they only ${what}`, async () => {
      const program = await module(`await call.info();\nlog('begun');\nfor (;;) await ${what};`, 100_000);
      const looping = startRun(program, {
        log: { ...silentLog, info: (_fields, message) => message === 'scenario says' && looping.stop('enough') },
        services: services({ sandbox }),
        limits: { graceMs: 50 },
      });
      expect(await looping.finished).to.deep.include({ status: 'stopped', reason: 'enough' });
    });
  }

  it('fail at the step limit without a wait, and may clean up', async () => {
    const { outcome, steps } = await run(
      `try { for (;;) await report('again'); }
      finally { await events.publish('over'); }`,
    );
    expect(outcome.error).to.deep.include({
      code: 'step_limit',
      message: 'the run made 20 steps without waiting for anything',
    });
    expect(steps.at(-1)).to.equal('events.publish -> next');
  });

  it('end after an endless cleanup', async () => {
    const { outcome } = await run(`for (;;) { try { await call.info(); } catch { } }`);
    expect(outcome.error?.code).to.equal('step_limit');
  });

  it('read their own id, version, run id and language', async () => {
    const { outcome, run: played } = await run('return scenario.info();');
    const { id, version } = played.program;
    expect(outcome.value).to.deep.equal({ id, version, run: played.id, language: 'en' });
  });
});
