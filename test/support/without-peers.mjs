// An environment without peers, and the tests that use peers: a machine without the Debian packages.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

const PEERS = [
  'sipp',
  'baresip',
  'linphonec',
  'linphonecsh',
  'postgres',
  'initdb',
  'psql',
  'pocketsphinx_continuous',
  'chromium',
  'sngrep',
  'nats-server',
];
const PROGRAMS = new Set([...PEERS, 'espeak-ng', 'sox', 'openssl']);

/** Names in test files that use a peer, or an operation with one. */
const LOOKS =
  /requirePeer|requireNats|REQUIRE_PEERS|describeStorages|describePostgres|postgresServer|data-nodes|speechPeers|ASR|[cC]ertificate|espeak|\bsox\b/;

/** Whether a test file uses peers. */
export function looksForPeers(file) {
  return existsSync(file) && LOOKS.test(readFileSync(file, 'utf8'));
}

/**
 * The environment for a run without peers.
 * @param {string} folder for copies of folders in PATH without the peers
 */
export function withoutPeers(folder) {
  const { RINGMASTER_REQUIRE_PEERS: _, ...env } = process.env;
  const path = (env.PATH ?? '').split(delimiter).filter((name) => existsSync(name));
  const seen = new Set();
  const stripped = path.flatMap((name) => {
    const real = realpathSync(name);
    if (seen.has(real)) return [];
    seen.add(real);
    const names = readdirSync(real);
    if (!names.some((each) => PROGRAMS.has(each))) return [real];
    const stand = join(folder, `bin-${seen.size}`);
    mkdirSync(stand);
    for (const each of names) if (!PROGRAMS.has(each)) symlinkSync(join(real, each), join(stand, each));
    return [stand];
  });
  // PostgreSQL is not in PATH.
  return { ...env, PATH: stripped.join(delimiter), RINGMASTER_WITHOUT_PEERS: '1' };
}
