// The modules of the commands as a few scripts that `npm ci` made of them (join.mjs): a start reads these in place of hundreds of files.
// They are used only while every file that they were made of has the same content as then; else the commands load their own modules.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { JOINED, ROOT, runScript } from './joined-script.mjs';

const CONTENTS = join(JOINED, 'contents.json');

/**
 * What the scripts are made of.
 * @typedef {object} Contents
 * @property {readonly string[]} files paths from the project's folder: all that were read, and all that were made
 * @property {string} hash of their contents
 * @property {string} stamp their inodes, sizes and times
 */

/**
 * Exports of the joined module with the commands; undefined when it is missing, damaged, or made of other files than there are now.
 * @returns {{ main(args: readonly string[]): Promise<void> } | undefined}
 */
export function joinedCommands() {
  return areRight() ? runScript('commands') : undefined;
}

/** Whether the scripts can be used. */
export function areRight() {
  try {
    const { files, hash, stamp } = contents();
    // Reading all takes five times as long. A copy has other stamps.
    return stampOf(files) === stamp || hashOf(files) === hash;
  } catch {
    // Not made, or a file of it was removed.
    return false;
  }
}

/** @returns {Contents} */
export function contents() {
  return JSON.parse(readFileSync(CONTENTS, 'utf8'));
}

/** The text of the file `contents.json`. @param {readonly string[]} files */
export function contentsOf(files) {
  return JSON.stringify({ files, hash: hashOf(files), stamp: stampOf(files) });
}

/** Every write changes the time `ctime` of its file, which no program can set. */
function stampOf(files) {
  return files
    .map((file) => statSync(`${ROOT}/${file}`))
    .map(({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`)
    .join('\n');
}

/** Of all contents. */
function hashOf(files) {
  const hash = createHash('sha256');
  // One for all files: a buffer for each takes as long as reading it.
  let buffer = Buffer.allocUnsafeSlow(1 << 20);
  for (const file of files) {
    const open = openSync(`${ROOT}/${file}`);
    let size = 0;
    for (;;) {
      size += readSync(open, buffer, size, buffer.length - size, null);
      // Only the end of a file leaves room.
      if (size < buffer.length) break;
      buffer = Buffer.concat([buffer], buffer.length * 2);
    }
    closeSync(open);
    hash.update(`${file}\n${size}\n`).update(buffer.subarray(0, size));
  }
  return hash.digest('hex');
}
