import { isAbsolute, join, relative } from 'node:path';

/**
 * A name in a folder; an absolute name is taken as it is, as FreeSWITCH does.
 *
 * @returns undefined when a relative name leads out of the folder
 */
export function pathInside(folder: string, name: string): string | undefined {
  if (isAbsolute(name)) return name;
  const path = join(folder, name);
  const way = relative(folder, path);
  return way === '..' || way.startsWith('../') || name.includes('\0') ? undefined : path;
}
