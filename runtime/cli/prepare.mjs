// Prepares starts, at the end of `npm ci`: joins the modules of the commands, and starts a node once in a temporary folder, which leaves
// the template of the database, compiled code and the compiled scripts of the examples beside the installed packages. It must run on
// any Node from 18 on, and never fails an installation.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { KEEPS_CODE } from './joined-script.mjs';

const LAUNCHER = fileURLToPath(new URL('./ringmaster.mjs', import.meta.url));
const COMPILED_SCRIPTS = fileURLToPath(
  new URL('../../node_modules/.cache/ringmaster/compiled-scripts.jsonl', import.meta.url),
);
/** Milliseconds; some four seconds of processor time on a quiet machine. */
const LIMIT_MS = 180_000;
const READY = 'Ringmaster is ready.';

const folder = mkdtempSync(join(tmpdir(), 'ringmaster-prepare-'));
try {
  await joinModules();
  // A start writes only what no such file has.
  rmSync(COMPILED_SCRIPTS, { force: true });
  await startOnce();
  keepCompiledScripts();
  await takeCompiledCode();
} catch (error) {
  process.stderr.write(`ringmaster: the first start is not prepared and will take longer: ${error.message}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Without joined modules starts take longer. */
async function joinModules() {
  try {
    const { joinCommands } = await import('./join.mjs');
    await joinCommands();
  } catch (error) {
    process.stderr.write(`ringmaster: the modules are not joined, and starts will take longer: ${error.message}\n`);
  }
}

/** Without the code that was compiled starts take longer. */
async function takeCompiledCode() {
  const { takeCode } = await import('./join.mjs');
  takeCode();
}

/** The first start in an empty data directory then needs no script process. */
function keepCompiledScripts() {
  const unfinished = `${COMPILED_SCRIPTS}.${process.pid}`;
  copyFileSync(join(folder, 'compiled-scripts.jsonl'), unfinished);
  renameSync(unfinished, COMPILED_SCRIPTS);
}

/** @throws Error when the node does not become ready, or does not end */
function startOnce() {
  const node = spawn(process.execPath, [LAUNCHER, 'start'], { stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
  let output = '';
  const { promise, resolve, reject } = settling();
  const timer = setTimeout(() => {
    node.kill('SIGKILL');
    reject(new Error(`no result after ${LIMIT_MS / 1000} s`));
  }, LIMIT_MS);
  let isReady = false;
  const take = (piece) => {
    output += piece;
    if (isReady || !output.includes(READY)) return;
    isReady = true;
    node.kill('SIGTERM');
  };
  for (const stream of [node.stdout, node.stderr]) stream.setEncoding('utf8').on('data', take);
  node.on('error', reject);
  node.on('close', () => (isReady ? resolve() : reject(new Error(output.trim().split('\n').at(-1) ?? 'it ended'))));
  return promise.finally(() => clearTimeout(timer));
}

/** `Promise.withResolvers` of Node 22. */
function settling() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

/** Any free ports on loopback, and no other setting of whoever installs. */
function environment() {
  const unset = /^(RINGMASTER_|OTEL_|DATABASE_URL$|NODE_COMPILE_CACHE$|NODE_OPTIONS$|NOTIFY_SOCKET$|WATCHDOG_)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !unset.test(name))),
    RINGMASTER_HTTP_PORT: '0',
    RINGMASTER_SIP_PORT: '0',
    RINGMASTER_DATA_DIR: folder,
    RINGMASTER_LOG_LEVEL: 'error',
    [KEEPS_CODE]: '1',
  };
}
