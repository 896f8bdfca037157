/** Folders for the files of tests, removed afterwards. */
import { randomUUID } from 'node:crypto';
import { type DisposableTempDir, mkdir, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = join(tmpdir(), 'ringmaster-test-');

/**
 * A folder for the tests of the calling describe block. It exists from the hooks after this call to the
 * end of the block, and is removed after the block's other hooks.
 * @param options with `each`, the folder is empty for every test
 * @returns its absolute path
 */
export function temporaryFolder({ each = false } = {}): string {
  const folder = `${PREFIX}${randomUUID()}`;
  const make = (): Promise<unknown> => mkdir(folder, { mode: 0o700 });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  before('remove the temporary folder at the end', function () {
    const block = this.test?.parent;
    // Added during the tests, this runs after the hooks of the block, which close the writers into the folder.
    if (each) block?.afterEach('remove the temporary folder', remove);
    else block?.afterAll('remove the temporary folder', remove);
  });
  (each ? beforeEach : before)('make a temporary folder', make);
  return folder;
}

/** A folder for a part of a test: `await using folder = await disposableFolder()`, or `folder.remove()`. */
export function disposableFolder(): Promise<DisposableTempDir> {
  return mkdtempDisposable(PREFIX);
}
