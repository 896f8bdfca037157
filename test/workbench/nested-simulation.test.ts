import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import type { SimulatedRunView } from '../../runtime/workbench/simulation/simulation-view.ts';
import { type SimulateOptions, runSimulate } from '../../runtime/workbench/simulation/simulate-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Scenarios that start each other, and end calls. */
const SCENARIOS: Readonly<Record<string, string>> = {
  reception: `start: ask
blocks:
  ask: { run: number, next: beside }
  beside: { run: { scenario: reminder, mode: parallel }, next: tell }
  tell: { publish: { event: waiting }, next: until }
  until: { await_run: { run: "\${beside.run}", timeout: 20s }, exits: { next: give, timeout: give } }
  give: { refer: { to: "102", pre_answer: accept }, exits: { refused: end } }
`,
  number: `start: up
blocks:
  up: { answer: , next: digits }
  digits: { collect: { max: 2, timeout: 3s }, exits: { next: end, timeout: end } }
`,
  reminder: `start: ring
blocks:
  ring: { call: { to: "103", caller_id: "100" }, exits: { answered: note, refused: end } }
  note: { log: told, next: end }
`,
  accept: `start: beep
blocks:
  beep: { play: "tone:%(300,0,1000)", next: end }
`,
  switchboard: `start: menu
blocks:
  menu: { serve: number, exits: { next: end, error: end } }
`,
  ends_itself: `start: up
on: { hangup: after }
blocks:
  up: { answer: , next: cut }
  cut: { terminate: "\${call.dialogid}", next: never }
  never: { play: "tone:%(300,0,1000)", next: end }
  after: { log: over, next: end }
`,
  ends_leg: `start: up
blocks:
  up: { answer: , next: ring }
  ring: { call: { to: "102" }, leg: agent, exits: { answered: cut, refused: end } }
  cut: { terminate: "\${ring.dialogid}", next: still }
  still: { play: "tone:%(300,0,1000)", next: end }
`,
};

describe('a simulation of nested scenarios', () => {
  const folder = temporaryFolder();

  before(async () => {
    const files = Object.entries(SCENARIOS);
    await Promise.all(files.map(([id, text]) => writeFile(path.join(folder, `${id}.yaml`), `id: ${id}\n${text}`)));
  });

  async function simulated(id: string, options: SimulateOptions = {}): Promise<string[]> {
    const lines: string[] = [];
    await runSimulate(path.join(folder, `${id}.yaml`), options, components, (line) => lines.push(line));
    // Names of runs and versions are made anew.
    return lines.map((line) => line.replace(/run [0-9a-f-]{36} {2}scenario (\w+) .*? call /, 'run of $1, call '));
  }

  it('shows their steps below, each with the events of its call', async () => {
    expect(await simulated('reception', { press: '12' })).to.deep.equal([
      '    0.0s  ask (run) -> next',
      '    0.2s  beside (run) -> next',
      '    0.2s  tell (publish) -> next',
      '    0.2s      publish waiting',
      '    0.2s  until (await_run) -> next',
      '    1.2s  give (refer) -> answered',
      '    1.2s      refer 102',
      '    3.2s      ended by transfer: transferred',
      '    3.2s  completed',
      '    run of number, call ivr@simulation',
      '        0.0s  up (answer) -> next',
      '        0.0s      answer',
      '        0.0s  digits (collect) -> next',
      '        0.2s      pressed 12',
      '        0.2s  completed',
      '    run of reminder, call leg-1@simulation',
      '        0.0s  ring (call) -> answered',
      '        0.0s      103: dial 103',
      '        1.0s  note (log) -> next',
      '                  info: told',
      '        1.0s      103: hangup',
      '        1.0s      103: ended by scenario: hangup',
      '        1.0s  completed',
      '    run of accept, call called@simulation',
      '        0.0s  beep (play) -> next',
      '        0.0s      called: play tone:%(300,0,1000)',
      '        1.0s  completed',
    ]);
  });

  it('prints the same as JSON, in the form of a trace', async () => {
    const lines = await simulated('reception', { press: '12', json: true });
    const { scenario, from, children = [] } = JSON.parse(lines.join('\n')) as SimulatedRunView;
    expect([scenario, from]).to.deep.equal(['reception', '101']);
    const [number] = children;
    expect(children.map((child) => child.scenario)).to.deep.equal(['number', 'reminder', 'accept']);
    expect(number?.trace.map(({ block, exit }) => [block, exit])).to.deep.equal([
      ['up', 'next'],
      ['digits', 'next'],
    ]);
    expect(number?.trace[1]?.events?.map(({ what }) => what)).to.deep.equal(['pressed 12']);
  });

  it('shows scenarios that got the call by serve', async () => {
    expect(await simulated('switchboard', { press: '12' })).to.deep.equal([
      '    0.0s  menu (serve) -> next',
      '    0.2s      hangup',
      '    0.2s      ended by scenario: hangup',
      '    0.2s  completed',
      'run of number, call ivr@simulation',
      '    0.0s  up (answer) -> next',
      '    0.0s      answer',
      '    0.0s  digits (collect) -> next',
      '    0.2s      pressed 12',
      '    0.2s  completed',
    ]);
  });

  it('ends the call of a terminated scenario, like a node', async () => {
    expect(await simulated('ends_itself')).to.deep.equal([
      '    0.0s  up (answer) -> next',
      '    0.0s      answer',
      '    0.0s  cut (terminate) -> next',
      '    0.0s      terminate dialog-1',
      '    0.0s      ended by external: Request Terminated',
      '    0.0s  never (play) -> interrupted',
      '    0.0s  after (log) -> next',
      '              info: over',
      '    0.0s  ended: external: Request Terminated',
    ]);
  });

  it('starts another scenario of the folder without compiling modules with other names', async () => {
    await writeFile(path.join(folder, 'unrelated.ts'), 'export default async function (call): Promise<void> {}\n');
    const openSandbox = (): Promise<never> => Promise.reject(new Error('the sandbox was opened'));
    expect(await simulated('switchboard', { press: '12', openSandbox })).to.include('    0.0s  up (answer) -> next');
  });

  it('ends only a terminated leg', async () => {
    expect(await simulated('ends_leg')).to.include.members([
      '    1.0s      terminate leg-1',
      '    1.0s      102: ended by external: Request Terminated',
      '    1.0s  still (play) -> next',
      '    2.0s  completed',
    ]);
  });
});
