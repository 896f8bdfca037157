/**
 * Creates the template of an empty PGlite cluster ahead of time, for images and after an installation:
 * `node_modules/.bin/node runtime/storage/prepare-template.ts`. Without it the first start creates it, with 4 s of CPU
 * for initdb and the migrations.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ensureCluster, templateFile } from './pglite/cluster.ts';

const say = (fields: object, message: string): void =>
  void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const LOG = { debug: say, info: say, warn: say, error: say };

const folder = mkdtempSync(join(tmpdir(), 'ringmaster-template-'));
try {
  await ensureCluster(join(folder, 'cluster'), templateFile(), LOG);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
