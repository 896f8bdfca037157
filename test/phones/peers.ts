import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';

/** Other SIP programs, used where they are installed. */
export type Peer =
  | 'sipp'
  | 'baresip'
  | 'linphonec'
  | 'pocketsphinx_continuous'
  | 'chromium'
  | 'sngrep'
  | 'kamailio'
  | 'nats-server';

/** Path of a program, or undefined when it is not installed. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

/** Skips the test without the program; fails it when RINGMASTER_REQUIRE_PEERS=1 asks for every peer. */
export function requirePeer(test: Context, name: Peer): string {
  return findPeer(name) ?? test.skip();
}

/** Path of a program, or undefined when it is not installed; fails when RINGMASTER_REQUIRE_PEERS=1 asks for every peer. */
export function findPeer(name: Peer): string | undefined {
  const path = findProgram(name);
  if (path === undefined && process.env['RINGMASTER_REQUIRE_PEERS'] === '1')
    throw new Error(`${name} is not installed`);
  return path;
}
