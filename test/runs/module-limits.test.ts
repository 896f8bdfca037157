import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Keeps its caller, calls others, and takes no error for an answer. */
const STUBBORN = `
export const limits = { wall: '5s' };
export const fallback = 'sorry';
export default async function (call) {
  await call.answer();
  const codes = new Set();
  for (;;) {
    for (const work of [
      () => call.play('tone:%(900,0,440)'),
      () => call.call({ to: '102', leg: 'agent' }),
      () => scenario.run('sorry'),
      () => operation.invite({ from: '101', to: '102' }),
    ]) await work().catch((error) => codes.add(error.code));
    await report({ fields: { codes: [...codes] } });
    await sleep('1s').catch(() => 0);
  }
}
`;

const SCENARIOS: Readonly<Record<string, string>> = {
  'stubborn.js': STUBBORN,
  'sorry.yaml': `id: sorry
start: a
blocks:
  a: { play: "tone:%(700,0,350)", next: b }
  b: { hangup: , next: end }
`,
  'endless.js': `
export const limits = { steps: 20 };
export default async function (call) {
  await call.answer();
  try { for (;;) await report('again'); } catch {}
  for (;;) await call.play('tone:%(900,0,440)').catch(() => sleep('1s'));
}
`,
  'outer.yaml': `
id: outer
on: { dtmf: { "*": moved } }
start: pick_up
blocks:
  pick_up: { answer: , next: serve }
  serve: { run: stubborn_inside, exits: { next: moved, error: failed } }
  failed: { play: "tone:%(200,0,1000)", next: bye }
  moved: { play: "tone:%(200,0,1200)", next: bye }
  bye: { hangup: , next: end }
`,
  'failing.yaml': `
id: failing
fallback: sorry
start: pick_up
blocks:
  pick_up: { answer: , next: ring }
  ring: { call: { to: "103" }, leg: agent, exits: { answered: broken, refused: end } }
  broken: { fail: { code: broken, message: It broke } }
`,
  'cancelling.js': `
export default async function (call) {
  await call.answer();
  const running = scenario.run('thorough');
  events.on('dtmf', () => running.cancel());
  await running.catch(() => 0);
  await call.play('tone:%(200,0,1200)');
}
`,
  'interrupted.yaml': `
id: interrupted
on: { dtmf: { "*": moved } }
start: pick_up
blocks:
  pick_up: { answer: , next: serve }
  serve: { run: thorough, next: end }
  moved: { play: "tone:%(200,0,1200)", next: end }
`,
  'thorough.yaml': `
id: thorough
start: a
finally: z
blocks:
  a: { wait: 1h, next: end }
  z: { hold_music: { duration: 30s }, next: end }
`,
  'caring.js': `
export default async function (call) {
  await call.answer();
  const { value } = await scenario.run('caring_inside').catch((error) => ({ value: error.code }));
  await sleep('50s');
  await report({ fields: { value } });
}
`,
  'caring_inside.yaml': `
id: caring_inside
on: { hangup: later }
start: a
finally: z
blocks:
  a: { wait: 1h, next: end }
  later: { wait: 5m, next: end }
  z: { wait: 30s, next: end }
`,
  'stubborn_inside.js': STUBBORN.replace("export const fallback = 'sorry';", ''),
};

describe('modules', () => {
  let sandbox: Sandbox;
  const folder = temporaryFolder();
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
    for (const [file, text] of Object.entries(SCENARIOS)) await writeFile(path.join(folder, file), text);
  });
  after(() => sandbox.close());

  async function run(name: string, script: CallScript = {}) {
    const compile = sandbox.compile.bind(sandbox);
    const file = path.join(folder, name);
    const { program } = await checkText(SCENARIOS[name] ?? '', { file, components, compile });
    const phones = {
      '102': { answers: [{ status: 180, after: 0 }] },
      '103': { answers: [{ status: 200, after: 0 }] },
    };
    const simulation = await simulate(program as Program, {
      script: { phones, ...script },
      components,
      openSandbox: async () => sandbox,
    });
    const { start } = simulation.run;
    const events = simulation.call.events.map(({ at, what }) => `${((at - start) / 1000).toFixed(1)} ${what}`);
    return { ...simulation, events };
  }

  it('over a limit pass their caller to the fallback at once, also when they catch every error, and can call no one', async () => {
    const { outcome, events } = await run('stubborn.js');
    expect(outcome.error?.code).to.equal('time_limit');
    expect(events).to.deep.equal([
      '0.0 answer',
      '0.0 play tone:%(900,0,440)',
      '5.0 play tone:%(700,0,350)',
      '6.0 hangup',
      '6.0 ended by scenario: hangup',
    ]);
    expect(outcome.result['codes']).to.deep.equal(['stopped']);
  });

  it('over a limit hang up on their caller at once, when they have no fallback', async () => {
    const { outcome, events } = await run('endless.js');
    expect(outcome.error?.code).to.equal('step_limit');
    expect(events).to.deep.equal(['0.0 answer', '0.5 hangup', '0.5 ended by scenario: hangup']);
  });

  it('over a limit return their caller to their parent at once', async () => {
    const { outcome, events } = await run('outer.yaml');
    expect(outcome.status).to.equal('completed');
    expect(events.slice(2)).to.deep.equal([
      '5.0 play tone:%(200,0,1000)',
      '6.0 hangup',
      '6.0 ended by scenario: hangup',
    ]);
  });

  it('return it also when an interrupt of the parent ends them', async () => {
    const { outcome, events } = await run('outer.yaml', { turns: [{ kind: 'press', digits: '*', after: 2000 }] });
    expect(outcome.status).to.equal('completed');
    expect(events.slice(2)).to.deep.equal([
      '2.0 pressed *',
      '2.0 play tone:%(200,0,1200)',
      '3.0 hangup',
      '3.0 ended by scenario: hangup',
    ]);
  });

  it('and scenarios of blocks that fail hang up their further calls before the fallback', async () => {
    const { happenings } = await run('failing.yaml');
    const all = [...happenings.ofFirst.values()].flat().map(({ what }) => what);
    expect(all.slice(1, 5)).to.deep.equal([
      '103: dial 103',
      '103: hangup',
      '103: ended by scenario: hangup',
      'play tone:%(700,0,350)',
    ]);
  });

  it('have their minute after a hang-up, after the time of a function', async () => {
    const { outcome } = await run('caring.js', { hangsUpAfter: 2000 });
    expect(outcome).to.deep.include({ status: 'ended', milliseconds: 2000 + (5 * 60 + 30 + 50) * 1000 });
    expect(outcome.result).to.deep.equal({ value: 'call_ended' });
  });

  for (const name of ['interrupted.yaml', 'cancelling.js']) {
    it(`and scenarios of blocks (${name}) get their call back from a function with a slow end`, async () => {
      const { run: outer, call } = await run(name, { turns: [{ kind: 'press', digits: '*', after: 2000 }] });
      const [inner] = outer.children;
      expect(inner?.trace.map(({ block, exit }) => `${block} ${exit}`)).to.deep.equal([
        'a interrupted',
        'z interrupted',
      ]);
      const played = call.events.find(({ what }) => what === 'play tone:%(200,0,1200)');
      expect(played?.at).to.equal(outer.start + 6000);
      expect(inner?.outcome?.milliseconds).to.equal(6000);
    });
  }
});
