// An environment in which no peer is found, and the tests that look for one: what a machine without Debian's packages runs.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

const PEERS = ['sipp', 'baresip', 'linphonec', 'linphonecsh', 'postgres', 'initdb', 'psql', 'pocketsphinx_continuous'];
const PROGRAMS = new Set([...PEERS, 'espeak-ng', 'sox', 'openssl']);

/** What tests name that use a peer, or run an operation that does. */
const LOOKS =
  /requirePeer|REQUIRE_PEERS|describeStorages|describePostgres|postgresServer|data-nodes|speechPeers|ASR|[cC]ertificate|espeak|\bsox\b/;

/** Whether a test file looks for peers. */
export function looksForPeers(file) {
  return LOOKS.test(readFileSync(file, 'utf8'));
}

/**
 * The environment for a run without peers.
 * @param {string} folder where the stand-ins of folders with peers go
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
  // PostgreSQL is not found by PATH.
  return { ...env, PATH: stripped.join(delimiter), RINGMASTER_WITHOUT_PEERS: '1' };
}
