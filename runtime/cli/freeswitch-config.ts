import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Owner, pairFrom, readSizing, render } from '../../freeswitch-config/index.ts';
import { usageOf } from './usage.ts';

const USAGE = `ringmaster freeswitch-config [--owner USER[:GROUP]] SIZING-FILE TARGET-FOLDER
  --owner freeswitch    owner of the written files: the user of the servers; needs root`;

/**
 * `ringmaster freeswitch-config`: writes the configuration of a drachtio-server and a FreeSWITCH, and prints the files.
 * Exit code 1 for an invalid sizing file, invalid variables of the pair, an invalid owner, or a failed write.
 */
export async function freeswitchConfig(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { positionals, values } = parseArgs({
      args: [...args],
      options: { owner: { type: 'string' } },
      allowPositionals: true,
    });
    const [sizingFile, target, ...others] = positionals;
    if (sizingFile === undefined || target === undefined || others.length > 0) {
      throw new TypeError('name a sizing file and a target folder');
    }
    try {
      const sizing = readSizing(readFileSync(sizingFile, 'utf8'));
      const owner = values.owner === undefined ? undefined : Owner.named(values.owner);
      const files = render(sizing, pairFrom(process.env), resolve(target), owner);
      process.stdout.write(`${files.map((file) => join(target, file)).join('\n')}\n`);
      return 0;
    } catch (error) {
      process.stderr.write(`ringmaster: ${(error as Error).message}\n`);
      return 1;
    }
  });
}
