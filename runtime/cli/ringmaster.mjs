#!/usr/bin/env node
// The launcher: finds the bundled Node release and runs the command with it. It must run on any Node from 20 on.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { LAUNCHER, onParentGone } from './parent.mjs';

const NEEDED_MAJOR = 24;
const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

/** Long-running commands. */
const SERVERS = ['start', 'embedded'];
/**
 * Options that keep the memory of such a process flat (docs/decisions/0017-memory-is-given-back.md). Calls leave garbage in
 * the heaps and memory pools of a dozen threads, which by default grow without regard for the machine. The number of V8's
 * helper threads stays Node's default: with one, an ending thread can wait for ever (nodejs/node issue 54918). A flag that V8
 * counts into its code would cost each thread the compiled code that comes with Node (docs/decisions/0021-what-a-start-waits-for.md).
 */
const FLAGS = ['--max-semi-space-size=8', '--no-memory-reducer', '--no-parallel-scavenge'];
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

const major = Number(process.versions.node.split('.')[0]);
const here = dirname(fileURLToPath(import.meta.url));
const script = fileURLToPath(import.meta.url);
const args = process.argv.slice(2);
const isServer = SERVERS.includes(args[0] ?? '');

if (major !== NEEDED_MAJOR) {
  handOver();
} else if (isServer && process.platform !== 'win32' && process.env.MALLOC_ARENA_MAX === undefined) {
  // Both can only be set before the start of a process. `execve` keeps the process, its id and its streams.
  process.execve(process.execPath, [process.execPath, ...flags(), ...process.execArgv, script, ...args], environment());
} else {
  // Loading hundreds of TypeScript files takes as long as most commands; the cache avoids it where it can be written.
  const kept = join(here, '..', '..', 'node_modules', '.cache', 'ringmaster');
  module.enableCompileCache(kept);
  // For worker threads.
  process.env.NODE_COMPILE_CACHE ??= kept;
  // A node that handles signals drains at the first one and ends at the second. SIGHUP is never the second one: npm and npx
  // may end after they passed on the first. Before that nohup may ignore it.
  if (isServer)
    onParentGone(() => process.kill(process.pid, process.listenerCount('SIGHUP') > 0 ? 'SIGHUP' : 'SIGTERM'));
  // A process that only begins another one does not load it.
  const { joinedCommands } = await import('./joined.mjs');
  const commands = joinedCommands() ?? (await import('./main.ts'));
  await commands.main(args);
}

/** An explicit limit takes precedence. */
function flags() {
  const given = `${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`;
  return FLAGS.filter((flag) => !given.includes(flag.split('=')[0]));
}

function environment() {
  return { ...ENVIRONMENT, ...process.env };
}

function handOver() {
  const platform = `${process.platform}-${process.arch}`;
  if (!SUPPORTED.includes(platform)) {
    fail(`ringmaster: this platform (${platform}) is not supported; supported are ${SUPPORTED.join(', ')}`);
    return;
  }
  const binary = findBinary(here);
  if (binary === undefined) {
    fail(`ringmaster: Node ${NEEDED_MAJOR} is not installed; run "npm ci" in the project's folder`);
    return;
  }
  const child = isServer
    ? spawn(binary, [...flags(), script, ...args], {
        stdio: 'inherit',
        env: { ...environment(), [LAUNCHER]: String(process.pid) },
      })
    : spawn(binary, [script, ...args], { stdio: 'inherit' });
  let passedOn = false;
  if (isServer) onParentGone(() => child.kill(passedOn ? 'SIGHUP' : 'SIGTERM'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      passedOn = true;
      child.kill(signal);
    });
  child.on('error', (error) => fail(`ringmaster: ${binary} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

function findBinary(from) {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', 'node', 'bin', name);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
