import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { temporaryFolder } from './temporary-folder.ts';

const MOCHA = fileURLToPath(new URL('../../node_modules/mocha/bin/mocha.js', import.meta.url));
const REPORTER = fileURLToPath(new URL('reporter.cjs', import.meta.url));
const STOPPED = `
it('passes', () => {});
it('fails', () => { throw new Error('the text of the failure'); });
it('waits', function (done) { this.timeout(0); console.log('waiting'); const kept = setInterval(() => {}, 1000); void [done, kept]; });
`;

/** Its child waits for the end of its input. */
const LEAVES = `
it('passes', () => void require('node:child_process').spawn('cat', ['-', '/nowhere'], { stdio: ['pipe', 'ignore', 'ignore'] }));
`;

const QUICKLY = ['leaveWithin=300', 'watchWithin=300'];

interface Report {
  readonly passes: number;
  readonly failures: number;
  readonly end: string;
}

describe('the reporter of a test run', function () {
  this.timeout(40_000);
  const folder = temporaryFolder({ each: true });

  /** Runs tests until mocha ends. @param heard gets its output */
  async function reportOf(
    tests: string,
    options: readonly string[],
    heard?: (output: string, mocha: ChildProcess) => void,
  ) {
    const [file, output] = [join(folder, 'some.test.cjs'), join(folder, 'report.json')];
    writeFileSync(file, tests);
    rmSync(output, { force: true });
    const reporting = ['--reporter', REPORTER, ...[`output=${output}`, ...options].flatMap((each) => ['-O', each])];
    const child = spawn(process.execPath, [MOCHA, '--no-config', ...reporting, file], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    for await (const chunk of child.stdout) heard?.(String(chunk), child);
    await ended;
    return existsSync(output) ? (JSON.parse(readFileSync(output, 'utf8')) as Report) : undefined;
  }

  it('has the texts of failures when the run is stopped during a test', async () => {
    const report = await reportOf(STOPPED, ['stopWithin=500'], (output, mocha) => {
      if (output.includes('waiting')) mocha.kill('SIGTERM');
    });
    expect(report).to.include({ passes: 1, failures: 1 });
    expect(report?.end).to.include('the text of the failure');
  });

  it('runs the tests that a list names, and the others of other files', async () => {
    const only = join(folder, 'only.json');
    const file = join(folder, 'some.test.cjs');
    writeFileSync(only, JSON.stringify([{ file, title: 'outer one' }]));
    const tests = "describe('outer', () => { it('one', () => {}); it('two', () => { throw new Error('two'); }); });";
    expect(await reportOf(tests, [`only=${only}`])).to.include({ passes: 1, failures: 0 });
    writeFileSync(only, JSON.stringify([{ file: join(folder, 'other.test.cjs'), title: 'outer one' }]));
    expect(await reportOf(tests, [`only=${only}`])).to.equal(undefined);
    writeFileSync(only, JSON.stringify([]));
    expect(await reportOf(tests, [`only=${only}`])).to.include({ passes: 1, failures: 1 });
  });

  it('fails when a process is left, and names its command', async function () {
    if (process.platform !== 'linux') this.skip();
    const report = await reportOf(LEAVES, QUICKLY);
    expect(report).to.include({ passes: 1, failures: 1 });
    expect(report?.end).to.match(/left open after the last test: .*ProcessWrap.*, cat - \/nowhere$/m);
  });

  it('names a timer that is left', async () => {
    const report = await reportOf("it('passes', () => void setInterval(function forgotten() {}, 50));", QUICKLY);
    expect(report?.end).to.match(/left open after the last test: .*Timeout, timer function forgotten\(\) \{\}$/m);
  });

  it('counts what a failed test leaves with its failure', async () => {
    const report = await reportOf(`${LEAVES}it('fails', () => { throw new Error('early'); });`, QUICKLY);
    expect(report).to.include({ passes: 1, failures: 1 });
    expect(report?.end).to.include('left open after the last test');
  });
});
