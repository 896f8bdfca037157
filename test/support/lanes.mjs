// Tests mostly wait, so they run in lanes: several mocha processes at a time. Each lane has its own ports (ports.ts), and
// temporary folders, a shared node (stage.ts) and a PostgreSQL server when its tests use them.
// Imported as a whole: Node 20, which may read this file, has no `globSync`.
import fs from 'node:fs';
import { sep } from 'node:path';
import process from 'node:process';

const ALL = 'test/**/*.test.ts';

/** Files of test/e2e that start nodes of their own, or that wait for long. */
const OWN_NODES =
  /^test\/e2e\/(access|domains|hostile.*|hunt|idempotency|leaks|outcomes\/.*|overload.*|passwords|recording-bucket|refused-secrets|several-servers|tracing|trunks|vanished-phones)\.test\.ts$/;
/** Files of test/e2e whose nodes end during the tests. */
const ENDING_NODES =
  /^test\/e2e\/(drain|healthz-database|history\/outage|node-shutdown|recording-crash|removed-domain|restart|service-manager)\.test\.ts$/;

/**
 * A file belongs to the first matching lane. The first ones are sensitive to time, as they play audio and watch timers; the
 * `background` gets the processor while they wait. The lanes take about equally long: the longest decides.
 */
const LANES = [
  { name: 'endings', has: (file) => ENDING_NODES.test(file) || /^test\/(console|sandbox)\//.test(file) },
  { name: 'nodes', has: (file) => OWN_NODES.test(file) || /^test\/(cluster\/|cli\/init)/.test(file) },
  {
    name: 'servers',
    has: (file) => /^test\/(conformance|embedded|media|speech|e2e\/(conference|simulation))/.test(file),
  },
  { name: 'calls', has: (file) => file.startsWith('test/e2e/') },
  { name: 'data', has: (file) => /^test\/(model|rest-bridge|storage)\//.test(file), background: true },
  { name: 'others', has: () => true, background: true },
];

/** Files with nodes that connect to a real drachtio-server. */
const WITH_NODES = /^test\/e2e\//;

/**
 * The lanes of a run: `{ name, files, background, options }`.
 * @param {string[]} named arguments of the command line: files and patterns, followed by options of mocha
 * @param {string} root the folder of the project
 */
export function lanesFor(named, root) {
  const from = named.findIndex((argument) => argument.startsWith('-'));
  const patterns = from < 0 ? named : named.slice(0, from);
  const options = from < 0 ? [] : named.slice(from);
  if (overRealServers()) return lanesInTurn(filesOf(patterns.length > 0 ? patterns : [ALL], root), options);
  if (named.length > 0) {
    const files = filesOf(patterns, root);
    // Mocha reports patterns without a file.
    return [{ name: 'tests', files: files.length > 0 ? files : patterns, background: false, options }];
  }
  const lanes = LANES.map(({ name, background = false }) => ({ name, files: [], background, options: [] }));
  for (const file of filesOf([ALL], root)) lanes[LANES.findIndex(({ has }) => has(file))].files.push(file);
  return lanes;
}

/** Whether the lanes run one after another. */
export function overRealServers() {
  const { RINGMASTER_DRACHTIO, RINGMASTER_FREESWITCH } = process.env;
  return Boolean(RINGMASTER_DRACHTIO || RINGMASTER_FREESWITCH);
}

/**
 * A real server accepts a single application (docs/conformance.md). As a shared node lives as long as its process, each
 * file with nodes has a process of its own.
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
