import process from 'node:process';
import { components } from '../../components/index.ts';
import { runCheck } from '../interpreter/check-command.ts';

/** `ringmaster check FILE...`: prints every mistake as `file:line:col: message`; exit code 1 when there is one. */
export async function check(files: readonly string[]): Promise<number> {
  if (files.length === 0) {
    process.stderr.write('ringmaster check: name one or more scenario files\n');
    return 2;
  }
  return runCheck(files, components, (line) => process.stdout.write(`${line}\n`));
}
