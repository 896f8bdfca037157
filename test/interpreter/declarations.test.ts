import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { components } from '../../components/index.ts';
import { typeDeclarations } from '../../runtime/interpreter/tools/type-declarations.ts';
import { projectFolder } from './support.ts';

const run = promisify(execFile);

/** What an author writes. A line behind `@ts-expect-error` must be a mistake to the compiler, every other must not. */
const MODULE = `
export default async function (call: Call): Promise<string> {
  const started = await operation.invite({ from: '101', to: '102', response_mode: 4, targettimeout: 10 });
  if (started.result === 'ok') {
    const exit: 'next' = started.exit;
    const id: string = started.dialogid;
    log.info(exit + id);
  } else {
    const exit: 'failed' = started.exit;
    // A failure has no target dialog.
    const none: '' = started.dialogid;
    const why: 'rejected' | 'redirected' | 'timeout' | 'error' | 'undefined' = started.result;
    log.info(exit + none + why + started.last_response);
  }
  const moved = await operation.refer({ from: '102', by: '102', referto: '103' });
  if (moved.exit === 'failed') return moved.new_last_response;
  const ok: 'ok' = moved.result;
  const { labels } = await operation.setup_bindings({ dialogid: moved.new_dialogid, command: 'get' });
  const noted: 'ok' = (await operation.notify({ from: '103', callid: 'x', event: 'talk' })).result;
  const both = await operation.switchconf({ from: '102' });
  if (both.result !== 'ok') log.warn(both.result + both.x_new_last_response);
  // @ts-expect-error -- there is no such result
  if (moved.result === 'okay') log.info('never');
  // @ts-expect-error -- nor such a parameter's value
  await operation.setup_bindings({ command: 'take' });
  // @ts-expect-error -- a failed one has been returned from
  const refused: 'rejected' = moved.result;
  await call.hangup();
  return ok + noted + refused + String(labels.length);
}
`;

describe('the type declarations for modules', () => {
  it('let the compiler tell the kinds of results of operations apart', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'declarations-'));
    try {
      await writeFile(join(folder, 'ringmaster.d.ts'), typeDeclarations(components));
      await writeFile(join(folder, 'module.ts'), MODULE);
      const options = { strict: true, noEmit: true, target: 'es2024', module: 'esnext', lib: ['es2024'], types: [] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
      const compiler = join(projectFolder, 'node_modules/.bin/tsc');
      const { stdout } = await run(compiler, ['-p', folder]).catch((error: { stdout: string }) => error);
      expect(stdout).to.equal('');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
