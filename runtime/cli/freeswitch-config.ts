import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { pairFrom, render } from '../../freeswitch-config/render.ts';
import { readSizing } from '../../freeswitch-config/sizing.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster freeswitch-config SIZING-FILE TARGET-FOLDER';

/**
 * `ringmaster freeswitch-config`: writes the configuration of a drachtio-server and a FreeSWITCH, and prints the files.
 * Exit code 1 when the sizing file or the two variables of the pair cannot be used, or nothing can be written.
 */
export async function freeswitchConfig(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, async () => {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const [sizingFile, target, ...others] = positionals;
    if (sizingFile === undefined || target === undefined || others.length > 0) {
      throw new TypeError('name a sizing file and a target folder');
    }
    try {
      const files = render(readSizing(readFileSync(sizingFile, 'utf8')), pairFrom(process.env), resolve(target));
      process.stdout.write(`${files.map((file) => join(target, file)).join('\n')}\n`);
      return 0;
    } catch (error) {
      process.stderr.write(`ringmaster: ${(error as Error).message}\n`);
      return 1;
    }
  });
}
