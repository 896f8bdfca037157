// Any Node.js from 20 on may start a program of the tests, which then runs on the project's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const MAJOR = '24';
const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'node_modules', 'node', 'bin');

/** Returns on the project's Node.js; on any other, restarts the program there, and ends with it. */
export async function onProjectNode() {
  if (process.versions.node.split('.')[0] === MAJOR) return;
  const node = join(bin, process.platform === 'win32' ? 'node.exe' : 'node');
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  try {
    const [code, signal] = await once(child, 'exit');
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  } catch (error) {
    process.stderr.write(`${node} cannot be started (${error.message}); run "npm ci" first\n`);
    process.exit(1);
  }
}
