// The modules of the commands as a few files that `npm ci` made of them: a start reads one file in place of a hundred. They are used only
// while every file that they were made of has the same content as then; else the commands load their own modules.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Folder of the project. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Folder of the joined files. */
export const JOINED = join(ROOT, 'node_modules', '.cache', 'ringmaster', 'joined');
const CONTENTS = 'contents.json';

/**
 * What the joined files are made of.
 * @typedef {object} Contents
 * @property {readonly string[]} files paths from the project's folder: all that were read, and all that were made
 * @property {string} hash of their contents
 */

/**
 * URL of the joined module with the commands; undefined when it is missing, damaged, or made of other files than there are now.
 * @returns {string | undefined}
 */
export function joinedCommands() {
  try {
    /** @type {Contents} */
    const { files, hash } = JSON.parse(readFileSync(join(JOINED, CONTENTS), 'utf8'));
    return hashOf(files) === hash ? pathToFileURL(join(JOINED, 'main.mjs')).href : undefined;
  } catch {
    // Not made, or a file of it was removed.
    return undefined;
  }
}

/** The text of the file `contents.json`. @param {readonly string[]} files */
export function contentsOf(files) {
  return JSON.stringify({ files, hash: hashOf(files) });
}

/** Of all contents, not of sizes and times, which a copy or a checkout can leave as they were. */
function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(`${ROOT}/${file}`);
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}
