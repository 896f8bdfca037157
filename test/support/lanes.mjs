// Tests mostly wait, so they run in lanes: several mocha processes at a time. Each lane has ports of its own (ports.ts), and
// temporary folders, a shared node (stage.ts) and a PostgreSQL server of its own as far as its tests ask for them.
import { globSync } from 'node:fs';
import { sep } from 'node:path';
import process from 'node:process';

const ALL = 'test/**/*.test.ts';

/** Files of test/e2e with nodes of their own, whose start and end take as long as the tests, or that wait for long. */
const OWN_NODES =
  /^test\/e2e\/(access|database-state|domains|hostile|hunt|idempotency|leaks|outcomes\/.*|overload|recording-bucket|recording-crash|refused-secrets|removed-domain|restart|several-servers|trunks|vanishing)\.test\.ts$/;

/**
 * A file is in the first lane that has it. Those in front are sensitive to time, as they play audio and watch timers; the
 * `background` gets the processor when they wait.
 */
const LANES = [
  { name: 'nodes', has: (file) => OWN_NODES.test(file) || file.startsWith('test/embedded/') },
  { name: 'calls', has: (file) => /^test\/(conformance|e2e|media|speech)\//.test(file) },
  { name: 'others', has: () => true, background: true },
];

/**
 * The lanes of a run: `{ name, files, background }`.
 * @param {string[]} named what the command line names; it is run by itself
 * @param {string} root the folder of the project
 */
export function lanesFor(named, root) {
  if (named.length > 0) return [{ name: 'tests', files: named, background: false }];
  // An application that connects to a real server must be the only one (docs/conformance.md).
  const { RINGMASTER_DRACHTIO, RINGMASTER_FREESWITCH } = process.env;
  if (RINGMASTER_DRACHTIO || RINGMASTER_FREESWITCH) return lanesFor([ALL], root);
  const files = globSync(ALL, { cwd: root }).map((file) => file.replaceAll(sep, '/'));
  const lanes = LANES.map(({ name, background = false }) => ({ name, files: [], background }));
  for (const file of files.toSorted()) lanes[LANES.findIndex(({ has }) => has(file))].files.push(file);
  return lanes;
}
