import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';

/** SIP programs of other people, used where they are installed. */
export type Peer = 'sipp' | 'baresip' | 'linphonec';

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
  const path = findProgram(name);
  if (path !== undefined) return path;
  if (process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw new Error(`${name} is not installed`);
  return test.skip();
}
