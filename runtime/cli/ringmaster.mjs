#!/usr/bin/env node
// The one file that any Node from 20 on must be able to run: it finds the Node release that the project brings along
// and hands over to it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

const major = Number(process.versions.node.split('.')[0]);
const here = dirname(fileURLToPath(import.meta.url));

if (major === NEEDED_MAJOR) {
  const { main } = await import('./main.ts');
  await main(process.argv.slice(2));
} else {
  handOver();
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
  const child = spawn(binary, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
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
