import { readFileSync } from 'node:fs';

/** The standard input. */
const STDIN = 0;

/** The text of a file, of standard input for `-`, without the end of its last line. */
export function textIn(file: string): string {
  return readFileSync(file === '-' ? STDIN : file, 'utf8').replace(/\r?\n$/, '');
}
