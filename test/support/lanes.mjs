// Tests mostly wait, so they run in lanes: several mocha processes at a time. Each lane has ports of its own (ports.ts), and
// temporary folders, a shared node (stage.ts) and a PostgreSQL server of its own as far as its tests ask for them.
// As a whole: Node 20, which may read this file, has no `globSync`.
import fs from 'node:fs';
import { sep } from 'node:path';
import process from 'node:process';

const ALL = 'test/**/*.test.ts';

/** Files of test/e2e with nodes of their own, whose start and end take as long as the tests, or that wait for long. */
const OWN_NODES =
  /^test\/e2e\/(access|database-state|domains|ending|hostile.*|hunt|idempotency|leaks|outcomes\/.*|overload|recording-bucket|recording-crash|refused-secrets|removed-domain|restart|several-servers|trunks|vanishing)\.test\.ts$/;

/**
 * A file is in the first lane that has it. Those in front are sensitive to time, as they play audio and watch timers; the
 * `background` gets the processor when they wait.
 */
const LANES = [
  { name: 'nodes', has: (file) => OWN_NODES.test(file) || file.startsWith('test/embedded/') },
  { name: 'calls', has: (file) => /^test\/(conformance|e2e|media|speech)\//.test(file) },
  { name: 'others', has: () => true, background: true },
];

/** Files whose nodes connect to a real drachtio-server. */
const WITH_NODES = /^test\/e2e\//;

/**
 * The lanes of a run: `{ name, files, background, options }`.
 * @param {string[]} named what the command line names: files, patterns, and options of mocha behind them
 * @param {string} root the folder of the project
 */
export function lanesFor(named, root) {
  const from = named.findIndex((argument) => argument.startsWith('-'));
  const patterns = from < 0 ? named : named.slice(0, from);
  const options = from < 0 ? [] : named.slice(from);
  if (overRealServers()) return lanesInTurn(filesOf(patterns.length > 0 ? patterns : [ALL], root), options);
  if (named.length > 0) return [{ name: 'tests', files: patterns, background: false, options }];
  const lanes = LANES.map(({ name, background = false }) => ({ name, files: [], background, options: [] }));
  for (const file of filesOf([ALL], root)) lanes[LANES.findIndex(({ has }) => has(file))].files.push(file);
  return lanes;
}

/** Whether the lanes wait for each other. */
export function overRealServers() {
  const { RINGMASTER_DRACHTIO, RINGMASTER_FREESWITCH } = process.env;
  return Boolean(RINGMASTER_DRACHTIO || RINGMASTER_FREESWITCH);
}

/**
 * An application that connects to a real server must be the only one (docs/conformance.md): a node for several files of tests
 * lives as long as their process, so each file with nodes has a process of its own.
 */
function lanesInTurn(files, options) {
  const others = files.filter((file) => !WITH_NODES.test(file));
  return [
    ...(others.length > 0 ? [{ name: 'tests', files: others }] : []),
    ...files.filter((file) => WITH_NODES.test(file)).map((file) => ({ name: file, files: [file] })),
  ].map((lane) => ({ ...lane, background: false, options }));
}

function filesOf(patterns, root) {
  const files = patterns.flatMap((pattern) => fs.globSync(pattern, { cwd: root }));
  return [...new Set(files.map((file) => file.replaceAll(sep, '/')))].toSorted((a, b) => (a < b ? -1 : 1));
}
