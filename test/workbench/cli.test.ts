import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { eventually } from '../support/eventually.ts';
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
    const [checked, simulated, drawn, schema] = await Promise.all([
      ringmaster('check', '--json', menu),
      ringmaster('simulate', menu, '--press', '1'),
      ringmaster('schema', '--mermaid', menu),
      ringmaster('schema', menu),
    ]);
    expect(JSON.parse(schema.out)).to.have.nested.property('$defs.target.anyOf[0].enum').that.includes('choice');
    expect(checked).to.deep.equal({ code: 0, out: '[]\n', err: '' });
    expect(simulated.code).to.equal(0);
    expect(simulated.out).to.include('choice (menu) -> 1');
    expect(drawn.out).to.match(/^flowchart TD\n/);
    const module = await ringmaster('schema', '--mermaid', path.join(projectFolder, 'scenarios/examples/guess.ts'));
    expect(module.err).to.equal('');
    expect(module.out).to.include('["call.collect<br>line 7"]');
  });

  it('check tells warnings without failing: a prompt may be one of the domain', async () => {
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'a.yaml');
    await writeFile(
      file,
      'id: a\nstart: up\nblocks:\n  up: { answer: , next: greet }\n  greet: { play: welcome, next: end }\n',
    );
    const { code, out, err } = await ringmaster('check', file);
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out).to.match(/:5:18: warning: there is no prompt "welcome" in the folder/);
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

  it('simulate answers of servers and operations', async () => {
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'a.yaml');
    await writeFile(
      file,
      `id: a
start: up
blocks:
  up: { answer: , next: ask }
  ask: { http: { url: "https://a.example/b?c=1:2" }, next: again }
  again: { http: { url: "https://a.example/b?c=1:2" }, exits: { next: find } }
  find: { operation.lookup: { from: "101" }, next: tell }
  tell: { log: "\${ask.json.x} \${again.status} \${find.ids[0]}", next: end }
`,
    );
    const given = ['--http', 'GET https://a.example/b?c=1:2: { json: { x: 5 } }'];
    given.push('--http', 'GET https://a.example/b?c=1:2: 404', '--operation', 'lookup: { ids: [d1] }');
    const [done, wrong, misspelt] = await Promise.all([
      ringmaster('simulate', file, ...given),
      ringmaster('simulate', file, '--http', 'GET'),
      ringmaster('simulate', file, '--http', 'GET https://a.example/b: { jsn: 1 }'),
    ]);
    expect(done.out).to.contain('info: 5 404 d1');
    expect([wrong.code, wrong.out.split(':')[0]]).to.deep.equal([2, '"GET" is no answer']);
    expect([misspelt.code, misspelt.out]).to.deep.equal([
      2,
      `"GET https://a.example/b: { jsn: 1 }" is no answer: write e.g. --http 'GET https://a.example/b: { json: { x: 1 } }'\n`,
    ]);
  });

  it('run the tests again after a change, until they are stopped', async function () {
    this.timeout(60_000);
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'a.yaml');
    const scenario = (said: string): string =>
      `id: a\nstart: b\nblocks:\n  b: { answer: , next: c }\n  c: { log: ${said}, next: end }\n`;
    await writeFile(file, scenario('one'));
    await writeFile(
      path.join(folder.path, 'a.test.yaml'),
      'tests: [{ name: says one, expect: { events: ["info: one"] } }]',
    );
    const child = spawn(process.execPath, [
      path.join(projectFolder, 'runtime/cli/ringmaster.mjs'),
      'test',
      '--watch',
      folder.path,
    ]);
    try {
      let out = '';
      child.stdout.on('data', (data: Buffer) => (out += data.toString()));
      await eventually(async () => expect(out).to.match(/^1 passed, 0 failed/), 30_000);
      await writeFile(file, scenario('two'));
      await eventually(async () => expect(out).to.match(/0 passed, 1 failed/), 30_000);
      for (const said of ['one', 'two', 'one']) {
        out = '';
        // As many editors save: another file takes the place.
        await writeFile(`${file}~`, scenario(said));
        await rename(`${file}~`, file);
        await eventually(
          async () => expect(out).to.include(said === 'one' ? '1 passed, 0 failed' : '1 failed'),
          30_000,
        );
      }
      await mkdir(path.join(folder.path, 'more'));
      await eventually(async () => expect(out.match(/1 passed/g)).to.have.length(2), 30_000);
      await writeFile(
        path.join(folder.path, 'more/b.test.yaml'),
        'scenario: ../a.yaml\ntests: [{ name: fails, expect: { path: [] } }]',
      );
      await eventually(async () => expect(out).to.include('1 passed, 1 failed'), 30_000);
    } finally {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      expect((await closed)[0]).to.equal(1);
    }
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
        file: 'menu.yaml',
        version: run.program.version,
        from: '101',
        to: '500',
        domain: 'd',
        start: 1_700_000_000_000,
        callid: call.callid,
        trace: run.trace,
        outcome,
      };
      server = createServer((request, response) => {
        const { url: asked = '', headers } = request;
        const live = { ...view, id: 'r2', start: 1_700_000_060_000, outcome: undefined };
        // A key that the trace does not show decided the way.
        const trace = run.trace.map((entry) => ({ ...entry, ...(entry.block === 'choice' ? { exit: '1' } : {}) }));
        const runs = [live, view];
        const single = [view, { ...view, id: 'r3', trace }, { ...view, id: 'r4', version: 'older' }];
        const found =
          asked === '/rest/v1/api/runs?limit=20' ? runs : single.find(({ id }) => asked === `/rest/v1/api/runs/${id}`);
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
          '2023-11-14 22:13:20  menu  101 -> 500  completed  r1',
          '2023-11-14 22:14:20  menu  101 -> 500  running    r2',
          '',
        ].join('\n'),
      );
    });

    it('shows a run of a node, or makes a test from it', async function () {
      this.timeout(60_000);
      const of = (id: string, ...options: string[]) =>
        ringmaster('trace', id, '--url', url, '--token', 'secret', ...options);
      const [shown, test, missing] = await Promise.all([of('r1'), of('r1', '--as-test'), of('r2')]);
      expect(shown.out).to.include('choice (menu menu.wav) -> 2');
      expect(test).to.deep.include({ code: 0, err: '' });
      expect(test.out).to.include('presses: "2"');
      const [failing, untried] = await Promise.all([of('r3', '--as-test'), of('r4', '--as-test')]);
      expect(failing).to.deep.include({ code: 1, out: '' });
      expect(failing.err).to.match(/^no test can be made of this run: block choice: the made test takes another way: /);
      expect(untried.out).to.include('presses: "2"');
      expect(untried.err).to.match(/^the test was not tried: .*menu\.yaml is not the version of the run/);
      expect(missing).to.deep.include({ code: 2, out: '' });
    });
  });
});
