import { isAbsolute, join, relative } from 'node:path';

/**
 * Resolves a name in a folder. As in FreeSWITCH, an absolute name stays as it is.
 *
 * @returns the path; undefined when a relative name is outside of the folder
 */
export function pathInside(folder: string, name: string): string | undefined {
  if (isAbsolute(name)) return name;
  const path = join(folder, name);
  const way = relative(folder, path);
  return way === '..' || way.startsWith('../') || name.includes('\0') ? undefined : path;
}
