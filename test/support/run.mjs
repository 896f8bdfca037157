// `npm test`: types, lint, room borders, then the tests; ends with the line `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

const steps = [
  ['types', npm, ['run', '--silent', 'typecheck']],
  ['lint', npm, ['run', '--silent', 'lint']],
  ['format', npm, ['run', '--silent', 'format:check']],
];

let failedSteps = 0;
for (const [name, command, args] of steps) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  process.stdout.write(`${name}: ${status === 0 ? 'ok' : 'failed'}\n`);
  if (status !== 0) failedSteps++;
}

/** What the command line names, or all tests. */
function specs() {
  const named = process.argv.slice(2);
  return named.length > 0 ? named : ['test/**/*.test.ts'];
}

const folder = mkdtempSync(join(tmpdir(), 'ringmaster-test-'));
const report = join(folder, 'report.json');
const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
const child = spawn(
  process.execPath,
  [
    mocha,
    '--reporter',
    join(root, 'test', 'support', 'reporter.cjs'),
    '--reporter-option',
    `output=${report}`,
    ...specs(),
  ],
  { cwd: root, stdio: 'inherit' },
);
child.on('exit', (code) => {
  let counts = { passes: 0, failures: 1 };
  try {
    counts = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    process.stderr.write('the test runner ended without a report\n');
  }
  rmSync(folder, { recursive: true, force: true });
  const failed = counts.failures + failedSteps;
  const crashed = failed === 0 && code !== 0 ? 1 : 0;
  process.stdout.write(`${counts.passes} passed, ${failed + crashed} failed\n`);
  process.exitCode = failed + crashed === 0 ? 0 : 1;
});
