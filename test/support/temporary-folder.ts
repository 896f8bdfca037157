/** Folders that tests write into, and that are removed afterwards. */
import { randomUUID } from 'node:crypto';
import { type DisposableTempDir, mkdir, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = join(tmpdir(), 'ringmaster-test-');

/**
 * A folder for the tests of the describe block that calls this. The folder exists from the hooks after the call to the
 * end of the block, and is removed when the other hooks of the block have run.
 * @param options with `each`, every test has the folder empty
 * @returns its absolute path
 */
export function temporaryFolder({ each = false } = {}): string {
  const folder = `${PREFIX}${randomUUID()}`;
  const make = (): Promise<unknown> => mkdir(folder, { mode: 0o700 });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  before('remove the temporary folder at the end', function () {
    const block = this.test?.parent;
    // Added while the tests run, this comes after the hooks of the block, which close what writes into the folder.
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
