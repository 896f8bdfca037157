import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents. Node's `recursive` loops forever, and blocks a thread, when the system answers
 * ENOENT for a folder whose parent exists, as in /proc.
 *
 * @throws the system's error
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return; // if it is a file, creating a file in it fails later
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await mkdir(path).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again;
    });
  }
}
