import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The parts of the project that a node needs, besides the installed packages. */
const PROJECT = ['runtime', 'components', 'rest-bridge', 'scenarios', 'freeswitch-config', 'package.json'];

/** A copy of the project as after `npm ci`: nothing is prepared for the first start. */
export class FreshCopy {
  readonly folder: string;

  /** @param folder of the copy; must not exist. Installed packages are hard links where possible. */
  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const name of PROJECT) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    linkFolder(realpathSync(join(ROOT, 'node_modules')), join(folder, 'node_modules'));
    this.refresh();
  }

  /** Removes the results of a start that speed up the next: the prepared database and compiled code. */
  refresh(): void {
    rmSync(join(this.folder, 'node_modules', '.cache'), { recursive: true, force: true });
  }
}

function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.name === '.cache') continue;
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkFile(source, target);
  }
}

/** Copies where the file system has no hard links. */
function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    copyFileSync(source, target);
  }
}
