import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { temporaryFolder } from './temporary-folder.ts';

const MOCHA = fileURLToPath(new URL('../../node_modules/mocha/bin/mocha.js', import.meta.url));
const REPORTER = fileURLToPath(new URL('reporter.cjs', import.meta.url));
const TESTS = `
it('passes', () => {});
it('fails', () => { throw new Error('the text of the failure'); });
it('waits', function (done) { this.timeout(0); console.log('waiting'); const kept = setInterval(() => {}, 1000); void [done, kept]; });
`;

describe('the reporter of a test run', function () {
  this.timeout(40_000);
  const folder = temporaryFolder({ each: true });

  it('has the texts of failures when the run is stopped during a test', async () => {
    const [tests, output] = [join(folder, 'some.test.cjs'), join(folder, 'report.json')];
    writeFileSync(tests, TESTS);
    const child = spawn(
      process.execPath,
      [MOCHA, '--no-config', '--reporter', REPORTER, '--reporter-option', `output=${output}`, tests],
      { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(child, 'exit');
    for await (const chunk of child.stdout) {
      if (String(chunk).includes('waiting')) child.kill('SIGTERM');
    }
    await ended;
    const report = JSON.parse(readFileSync(output, 'utf8')) as { passes: number; failures: number; end: string };
    expect(report).to.include({ passes: 1, failures: 1 });
    expect(report.end).to.include('the text of the failure');
  });
});
