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
/** What a node needs of the project, beside the installed packages. */
const PROJECT = ['runtime', 'components', 'rest-bridge', 'scenarios', 'freeswitch-config', 'package.json'];

/** A copy of the project as it is after `npm ci`: nothing is prepared yet for the next start. */
export class FreshCopy {
  readonly folder: string;

  /** @param folder where the copy goes; must not exist. Installed packages are hard links as far as possible. */
  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const name of PROJECT) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    linkFolder(realpathSync(join(ROOT, 'node_modules')), join(folder, 'node_modules'));
    this.refresh();
  }

  /** Removes what a start keeps for the next: the prepared database and compiled code. */
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

/** Copies where the file system cannot link. */
function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    copyFileSync(source, target);
  }
}
