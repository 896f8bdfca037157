// `npm test`: types, lint, room borders and format, then the tests in lanes. The failures come last, then the line
// `N passed, N failed`. With `--also-without-peers`, all run without peers, and then those that were skipped run with them.
// Files of a whole run with a failure run again, alone; a test that passes then is printed as unsteady.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { lanesFor, overRealServers } from './lanes.mjs';
import { onProjectNode } from './project-node.mjs';
import { looksForPeers, withoutPeers } from './without-peers.mjs';

await onProjectNode();
// Node 20 cannot read it.
const { judgedAlone } = await import('./judged-alone.ts');

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'ringmaster-test-'));

/** Running processes; they end with this one. */
const running = new Set();
// A terminal sends Ctrl-C to all processes: mocha ends its tests in order, and this one waits for it.
process.on('SIGINT', () => undefined);
// On SIGTERM the reporter writes the results so far and ends its mocha.
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
  for (const child of running) child.kill('SIGTERM');
});

/** Starts a program; `ended` settles with its failure, or `undefined` for success. */
function start(command, args, { background = false, ...options } = {}) {
  const child = spawn(command, args, { cwd: root, ...options });
  running.add(child);
  if (background && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const ended = once(child, 'close').then(
    ([code, signal]) => (code === 0 ? undefined : `ended with ${signal ?? code}`),
    (error) => error.message,
  );
  void ended.finally(() => running.delete(child));
  return { child, ended };
}

/**
 * Prints a program's output in paragraphs, so that concurrent outputs stay readable.
 * @returns a function that returns the end of the output
 */
function printParagraphs(child) {
  let held = '';
  let last = '';
  const take = (text, end) => {
    last = (last + text).slice(-4000);
    held += text;
    const length = end ? held.length : held.lastIndexOf('\n\n') + 2;
    if (length < 2) return;
    process.stdout.write(held.slice(0, length));
    held = held.slice(length);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => take(text, false));
  child.once('close', () => take('', true));
  return () => last;
}

const CHECKS = [
  ['types', 'typecheck'],
  ['lint', 'lint'],
  ['format', 'format:check'],
];

/** The failures of the checks, to be printed at the end. */
async function check() {
  const failures = [];
  for (const [name, script] of CHECKS) {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const { child, ended } = start(npm, ['run', '--silent', script]);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const failed = (await ended) !== undefined;
    process.stdout.write(`${output}${name}: ${failed ? 'failed' : 'ok'}\n\n`);
    if (failed) failures.push(`${output}${name}: failed`);
  }
  return failures;
}

/**
 * Runs the tests of a lane.
 * @returns `{ lane, index, name, passes, failures, skipped, failed, end }`: `skipped` and `failed` are tests, `end` is
 * mocha's final text
 */
async function run(lane, index, { length }) {
  const { name, files, background, options, only, env = process.env } = lane;
  const report = join(folder, `${name.replaceAll('/', '-')}.json`);
  const mocha = [
    join(root, 'node_modules', 'mocha', 'bin', 'mocha.js'),
    ...(process.stdout.isTTY ? ['--color'] : []),
    '--reporter',
    join(root, 'test', 'support', 'reporter.cjs'),
    '--reporter-option',
    `output=${report}`,
    ...(only === undefined ? [] : ['--reporter-option', `only=${only}`]),
    ...files,
    ...options,
  ];
  const { child, ended } = start(process.execPath, mocha, {
    background,
    stdio: length === 1 ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...env, RINGMASTER_TEST_LANE: `${index + 1}/${length}` },
  });
  const last = length === 1 ? () => '' : printParagraphs(child);
  const badly = await ended;
  const { passes, failures, pending, skipped, failed, end } = readReport(report);
  const wrong =
    badly !== undefined && failures === 0 ? badly : passes + failures + pending === 0 ? 'ran no tests' : undefined;
  const result = { lane, index, name, passes, failures, skipped, failed, end };
  if (wrong === undefined) return result;
  // Mocha ended before its last test, or has no tests.
  return { ...result, failures: failures + 1, end: `${end}\n${last()}\n  The tests ${wrong}.\n` };
}

/**
 * Runs a lane without peers; then, with them, the tests that it skipped, and its files that look for peers and skipped none.
 * @param env the environment without peers
 */
async function runTwice(lane, index, lanes, env) {
  const without = await run({ ...lane, name: `${lane.name}-without-peers`, env }, index, lanes);
  const skipping = new Set(without.skipped.map(({ file }) => file));
  const files = lane.files.map((file) => join(root, file)).filter((file) => skipping.has(file) || looksForPeers(file));
  if (stopped || files.length === 0) return [without];
  const only = join(folder, `${lane.name}-skipped.json`);
  writeFileSync(only, JSON.stringify(without.skipped));
  return [without, await run({ ...lane, files, only }, index, lanes)];
}

/** Concurrently, or one after another over real servers. */
async function runLanes(lanes, isTwice) {
  if (!overRealServers()) {
    if (stopped) return [];
    const env = isTwice ? withoutPeers(folder) : undefined;
    const done = lanes.map((lane, index) => (isTwice ? runTwice(lane, index, lanes, env) : run(lane, index, lanes)));
    return (await Promise.all(done)).flat();
  }
  const done = [];
  for (const lane of lanes) if (!stopped) done.push(await run(lane, 0, [lane]));
  return done;
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The exit status shows the failure.
    return { passes: 0, failures: 0, pending: 0, skipped: [], failed: [], end: '' };
  }
}

// Before the tests, as the checks use the whole processor.
const failedChecks = await check();
const WITHOUT = '--also-without-peers';
const named = process.argv.slice(2).filter((arg) => arg !== WITHOUT);
const done = await runLanes(lanesFor(named, root), process.argv.includes(WITHOUT));
const isWhole = named.length === 0 && !overRealServers() && !stopped;
const lanes = isWhole
  ? await judgedAlone(done, ({ lane, index }, again) => run({ ...lane, ...again }, index, done))
  : done;
rmSync(folder, { recursive: true, force: true });
for (const { name, failures, end } of lanes) {
  if (!overRealServers() || failures > 0) process.stdout.write(`${lanes.length > 1 ? `\n${name}:` : ''}${end}\n`);
}
for (const output of failedChecks) process.stdout.write(`${output}\n`);
const passed = lanes.reduce((sum, { passes }) => sum + passes, 0);
if (stopped) process.stdout.write('stopped before the last test\n');
const failed = lanes.reduce((sum, { failures }) => sum + failures, failedChecks.length) + (stopped ? 1 : 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
