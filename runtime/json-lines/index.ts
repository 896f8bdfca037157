/** Files of JSON lines, to which a process appends until it is killed. */
import { readFileSync } from 'node:fs';

/**
 * The lines of such a file. A line that a killed process left half-written is left out.
 * @returns none for a missing file
 * @throws other errors of the file system
 */
export function readJsonLines<Line>(file: string): readonly Line[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}
