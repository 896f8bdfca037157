import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { programFromFile, projectFolder } from '../support/scenarios.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

const menu = path.join(projectFolder, 'scenarios/examples/menu.yaml');

function ringmaster(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(
      process.execPath,
      [path.join(projectFolder, 'runtime/cli/ringmaster.mjs'), ...args],
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

describe('commands for authors', () => {
  it('check, simulate and draw a scenario', async () => {
    const [checked, simulated, drawn] = await Promise.all([
      ringmaster('check', '--json', menu),
      ringmaster('simulate', menu, '--press', '1'),
      ringmaster('schema', '--mermaid', menu),
    ]);
    expect(checked).to.deep.equal({ code: 0, out: '[]\n', err: '' });
    expect(simulated.code).to.equal(0);
    expect(simulated.out).to.include('choice (menu) -> 1');
    expect(drawn.out).to.match(/^flowchart TD\n/);
    const module = await ringmaster('schema', '--mermaid', path.join(projectFolder, 'scenarios/examples/guess.ts'));
    expect(module.err).to.equal('');
    expect(module.out).to.include('["call.collect<br>line 7"]');
  });

  it('draw the readable part of a scenario with mistakes, and report them', async () => {
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'a.yaml');
    await writeFile(
      file,
      `id: a
start: up
blocks:
  up: { answer: , next: greet }
  greet: { play: welcome.wav, next: end }
`,
    );
    const { code, out, err } = await ringmaster('schema', '--mermaid', file);
    expect(out).to.match(/^flowchart TD\n.*b1\[/s);
    expect({ code, told: /:5:18: there is no prompt "welcome.wav"/.test(err) }).to.deep.equal({ code: 1, told: true });
  });

  it('simulate speech, called phones, and the start time', async () => {
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'a.yaml');
    await writeFile(
      file,
      `id: a
start: up
blocks:
  up: { answer: , next: ask }
  ask: { recognise: { hints: ["yes"] }, exits: { heard: ring, silence: end } }
  ring: { refer: "102", exits: { answered: end, refused: note } }
  note: { log: "\${call.number} at \${now.getHours()}", next: end }
`,
    );
    const caller = ['--steps', 'silence after 1s'];
    const [done, wrong, noKey] = await Promise.all([
      ringmaster(
        'simulate',
        file,
        '--steps',
        'says yes',
        '--phone',
        '102=busy',
        '--phone',
        '102=answers',
        '--from',
        '9',
        '--at',
        '2026-01-01T07:00',
      ),
      ringmaster('simulate', file, ...caller),
      ringmaster('simulate', file, '--press', 'x'),
    ]);
    expect(done.out).to.contain('said yes').and.to.contain('ring (refer) -> busy').and.to.contain('info: 9 at 7');
    expect([wrong, noKey].map(({ code, out }) => [code, out.split(':')[0]])).to.deep.equal([
      [2, '"silence after 1s" is nothing that a caller does'],
      [2, '"x" are no keys'],
    ]);
  });

  it('print their usage for --help, and start nothing', async function () {
    // Five processes, beside the other lanes.
    this.timeout(60_000);
    const asked = await Promise.all(['start', 'check', 'simulate', 'trace'].map((name) => ringmaster(name, '--help')));
    expect(asked.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0]);
    for (const { out } of asked) expect(out).to.match(/^usage: ringmaster /);
    expect((await ringmaster('start', 'now')).code).to.equal(2);
  });

  it('end silently when the reader closes their output', async () => {
    const child = spawn(process.execPath, [path.join(projectFolder, 'runtime/cli/ringmaster.mjs'), 'simulate', menu]);
    child.stdout.destroy();
    const errors = text(child.stderr);
    await once(child, 'close');
    expect(await errors).to.equal('');
  });

  it('report missing arguments, and end with 2', async () => {
    const wrong = await Promise.all([
      ringmaster('check'),
      ringmaster('simulate', menu, '--pres', '1'),
      ringmaster('trace', 'x', '--url', 'http://127.0.0.1:1', '--token', 't'),
    ]);
    expect(wrong.map(({ code }) => code)).to.deep.equal([2, 2, 2]);
    expect(wrong.map(({ err }) => err.split('\n')[0])).to.deep.equal([
      'name one or more scenario files or folders',
      "Unknown option '--pres'.",
      'no node answers at http://127.0.0.1:1',
    ]);
  });

  describe('trace', () => {
    let server: Server;
    let url: string;
    before(async () => {
      const { run, outcome, call } = await simulate(await programFromFile(menu), {
        script: { presses: ['2'] },
        components,
      });
      const view = {
        id: 'r1',
        scenario: 'menu',
        version: 'v',
        domain: 'd',
        start: 1_700_000_000_000,
        callid: call.callid,
        trace: run.trace,
        outcome,
      };
      server = createServer((request, response) => {
        const { url: asked = '', headers } = request;
        const runs = [
          { ...view, id: 'r2', from: '101', to: '500', start: 1_700_000_060_000, outcome: undefined },
          view,
        ];
        const found =
          asked === '/rest/v1/api/runs?limit=20' ? runs : asked === '/rest/v1/api/runs/r1' ? view : undefined;
        const known = found !== undefined && headers.authorization === 'Bearer secret';
        response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify(known ? found : {}));
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(() => server.close());

    it('lists the runs of a node', async () => {
      expect((await ringmaster('trace', '--url', url, '--token', 'secret')).out).to.equal(
        [
          '2023-11-14 22:13:20  menu              completed  r1',
          '2023-11-14 22:14:20  menu  101 -> 500  running    r2',
          '',
        ].join('\n'),
      );
    });

    it('shows a run of a node, or makes a test from it', async () => {
      const [shown, test, missing] = await Promise.all([
        ringmaster('trace', 'r1', '--url', url, '--token', 'secret'),
        ringmaster('trace', 'r1', '--url', url, '--token', 'secret', '--as-test'),
        ringmaster('trace', 'r2', '--url', url, '--token', 'secret'),
      ]);
      expect(shown.out).to.include('choice (menu menu.wav) -> 2');
      expect(test.out).to.include('presses: "2"');
      expect(missing).to.deep.include({ code: 2, out: '' });
    });
  });
});
