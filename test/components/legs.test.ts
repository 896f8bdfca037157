import { expect } from 'chai';
import { openSandbox } from '../../runtime/sandbox/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import type { Program } from '../../runtime/language/program.ts';
import { readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { simulate as simulateFile } from '../../runtime/workbench/simulation/simulation.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { problems, program } from '../support/scenarios.ts';

const QUEUE = `id: q
variables: { rating: "" }
start: pick_up
finally: last
blocks:
  pick_up: { answer: , next: ring }
  ring:
    call: { to: "102", caller_id: "100" }
    leg: agent
    exits: { answered: tell, refused: sorry }
  tell:
    play: menu.wav
    leg: agent
    next: talk
  talk:
    bridge: agent
    exits: { ended: rate }
  rate:
    menu: { prompt: survey-1.wav, tries: 1 }
    exits: { 5: noted, failed: end }
  noted: { set: { rating: "\${rate.digit}" }, next: end }
  sorry: { play: goodbye.wav, next: end }
  last:
    report: { fields: { talked: "\${talk.milliseconds}", rating: "\${rating}" } }
`;

async function play(scenario: Program, phones: Record<string, string>, presses: readonly string[] = []) {
  const simulation = await simulateFile(scenario, {
    components,
    script: {
      presses,
      hangsUpAfter: 120_000,
      phones: Object.fromEntries(
        Object.entries(phones).map(([number, text]) => [number, readPhone(text) ?? { answers: [] }]),
      ),
    },
  });
  const { outcome, run, events } = simulation;
  return {
    outcome,
    path: run.trace.map(({ block, exit }) => `${block}:${exit ?? ''}`),
    events: [...events.values()].flat().map(({ what }) => what),
  };
}

describe('legs: further calls of a scenario', () => {
  it('are called, talked to, and bridged with the caller, who then returns to the scenario', async () => {
    const { outcome, events } = await play(program(QUEUE), { 102: 'answers after 2s, hangs up after 30s' }, ['5']);
    expect(outcome).to.deep.include({ status: 'completed', result: { talked: 29_000, rating: '5' } });
    expect(events).to.include.members(['102: play menu.wav', 'bridge 102', '102: ended by opponent: hung up']);
  });

  it('show the number of the caller; without a caller, a number is required', async () => {
    const text = QUEUE.replace(', caller_id: "100"', '');
    expect((await play(program(text), { 102: 'answers, hangs up' })).path[1]).to.equal('ring:answered');
    const alone = program(
      text
        .replace('start: pick_up', 'parameters: { who: string }\nstart: ring')
        .replace('  pick_up: { answer: , next: ring }\n', ''),
    );
    const { outcome } = await simulateFile(alone, { components, args: { who: 'x' }, script: {} });
    expect(outcome.error).to.deep.include({ code: 'setting', block: 'ring' });
    expect(problems(text.replace('leg: agent\n    exits: { answered: tell', 'exits: { answered: tell'))[0]).to.equal(
      '7:3: "call" without `leg` is for a scenario that has no caller; name the further call: leg: other, beside call',
    );
  });

  it('that refuse leave by the exit, and the caller stays', async () => {
    const { path } = await play(program(QUEUE), { 102: 'busy' });
    expect(path.slice(0, 3)).to.deep.equal(['pick_up:next', 'ring:busy', 'sorry:next']);
  });

  it('that hung up before the bridge leave by the exit; a leg that was never called is a mistake', async () => {
    const text = QUEUE.replace('    play: menu.wav\n    leg: agent\n', '    wait: 3s\n');
    const { path, outcome } = await play(program(text), { 102: 'answers, hangs up after 1s' }, ['5']);
    expect(path.slice(2, 5)).to.deep.equal(['tell:next', 'talk:ended', 'rate:5']);
    expect(outcome.result).to.include({ talked: 0 });
    const never = QUEUE.replace('refused: sorry', 'refused: talk').replace(/ {2}sorry: .*\n/, '');
    expect((await play(program(never), { 102: 'busy' })).outcome.error).to.include({
      code: 'call_state',
      block: 'talk',
    });
  });

  it('are hung up with the scenario', async () => {
    const { events, outcome } = await play(program(QUEUE), { 102: 'answers' });
    expect(outcome.status).to.equal('ended');
    expect(events).to.include('102: hangup');
  });

  it('must be called under their name, and are only for blocks that use a call', () => {
    const text = QUEUE.replace('bridge: agent', 'bridge: agnt').replace('noted: {', 'noted: { leg: agent,');
    expect(problems(text)).to.deep.equal([
      '16:13: no call has the name "agnt"; did you mean "agent"?',
      '21:12: "set" has nothing to do with a call; remove leg',
    ]);
  });

  it('cannot be bridged with themselves', () => {
    const text = QUEUE.replace('bridge: agent', 'bridge: agent\n    leg: agent');
    expect(problems(text)).to.deep.equal([
      '16:13: "agent" cannot be connected with itself; take out leg: without it that is the caller',
    ]);
  });

  it('work in modules, too', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const source = `export default async function (call) {
        await call.answer();
        const { exit } = await call.call({ to: '102', caller_id: '100', leg: 'agent' });
        await call.play({ sounds: 'menu.wav', leg: 'agent' });
        const talk = await call.bridge('agent');
        return [exit, talk.exit, talk.milliseconds];
      }`;
      const file = 'test/components/q.ts';
      const { promptsFolder } = program(QUEUE);
      const { program: checked } = await checkModule(source, { file, components, promptsFolder });
      const simulation = await simulateFile(checked as Program, {
        components,
        openSandbox: async () => sandbox,
        script: { phones: { 102: readPhone('answers, hangs up after 10s') ?? { answers: [] } } },
      });
      expect(simulation.outcome.value, simulation.outcome.error?.message).to.deep.equal(['answered', 'ended', 9000]);
    } finally {
      await sandbox.close();
    }
  });

  it('ring while the caller hears their sounds; a caller who is not answered yet hears them too', async () => {
    const music = QUEUE.replace('caller_id: "100" }', 'caller_id: "100", sounds: "tone:%(500,500,440)" }');
    const { events } = await play(program(music), { 102: 'answers after 2s, hangs up' });
    expect(events.slice(0, 3)).to.deep.equal(['answer', '102: dial 102', 'play tone:%(500,500,440) (until stopped)']);
    const early = music
      .replace('start: pick_up', 'start: ring')
      .replace('pick_up: { answer: , next: ring }', 'pick_up: { answer: , next: talk }')
      .replace('answered: tell', 'answered: pick_up')
      .replace(/ {2}tell:[^]*?next: talk\n/, '');
    const before = await play(program(early), { 102: 'answers after 2s, hangs up' });
    expect(before.events.slice(0, 3)).to.deep.equal([
      '102: dial 102',
      'play tone:%(500,500,440) (until stopped)',
      'answer',
    ]);
    const silent = await play(program(early.replace(', sounds: "tone:%(500,500,440)"', '')), {
      102: 'answers after 2s',
    });
    expect(silent.events.slice(0, 3)).to.deep.equal(['102: dial 102', 'ring', 'answer']);
  });
});
