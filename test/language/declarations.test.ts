import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { typeDeclarations } from '../../runtime/workbench/schema/type-declarations.ts';
import { projectFolder } from '../support/scenarios.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

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

/** Settings, results and what is known of them, in the same way. */
const USES = `
interface Order { readonly number: string }
export default async function (call: Call, args: { wait: Duration; seconds: number }) {
  const { json } = await http.request({ url: 'https://example.com', timeout: '3s', headers: { accept: 'text/plain' } });
  await call.refer({ to: String(json.number), timeout: args.wait });
  const known = await http.request<Order>('https://example.com');
  const number: string = known.json.number + known.headers['etag'];
  const { entities } = await model.list<{ recording: string }>({ class: 'messages', filter: { owner: number } });
  for (const { recording } of entities) await call.play(recording);
  await call.play({ file: 'a.wav' });
  await call.play({ sounds: ['a.wav', 'b.wav'], repeat: 2 });
  const { ids } = await operation.lookup({ from: '101' });
  for (const dialogid of ids) await operation.delete({ dialogid });
  const { dialogs } = await operation.list({});
  for (const { legs, opts } of dialogs) log.info(String(legs[0]?.callid) + String(opts['referred-by']?.length));
  const { status } = await operation.read({ from: '101' });
  const forking: boolean = status === 'forking';
  // @ts-expect-error -- a dialog has no such state
  if (status === 'ringing') log.info(String(forking));
  const { participants } = await operation.list_participants({ confid: 'x' });
  const ringing: string[] = participants.filter(({ state }) => state === 'ringing').map(({ ruri }) => ruri);
  const { labels } = await call.bindings({ dialogid: 'x' });
  log.info(labels.join(), ringing);
  console.log('the same');
  const { exit } = await call.menu({ prompt: 'a.wav', exits: ['1', '2'] });
  const chosen: '1' | '2' | 'failed' = exit;
  await sleep(\`\${args.seconds}s\`);
  await sleep(500);
  const { data } = await scenario.receive('stop');
  await events.publish({ event: 'done', data: { chosen, why: data.why } });
  const { run } = await scenario.info();
  if ((await call.info()).state === 'ended' || run === '') throw new ScenarioError('over', 'it is over');
  try {
    await call.play('a.wav');
  } catch (error) {
    const { code } = error as ScenarioError;
    // A code of the author's own is a text like any other.
    if (code === 'call_ended' || code === 'sold_out') return;
    const known: ScenarioErrorCode = 'call_ended';
    // @ts-expect-error -- no such code
    const unknown: ScenarioErrorCode = 'call_endet';
    log.info(known, unknown);
  }
  const { reason } = await call.record();
  // @ts-expect-error -- no such end of a recording
  if (reason === 'silent') return;
  // @ts-expect-error -- no such choice
  if (exit === '3') return;
  // @ts-expect-error -- no duration
  await sleep('5 seconds');
  // @ts-expect-error -- no such key
  await call.menu({ prompt: 'a.wav', exits: ['12'] });
  // @ts-expect-error -- nothing to play
  await call.play({ repeat: 2 });
  // @ts-expect-error -- a function is no data
  await scenario.send({ to: run, message: 'x', data: { f: () => 1 } });
  // @ts-expect-error -- header fields are texts
  await http.request({ url: 'https://example.com', headers: { a: { b: 1 } } });
  // @ts-expect-error -- no such result
  participants[0]?.number;
  // @ts-expect-error -- no such state
  if ((await call.info()).state === 'conected') return;
}
`;

/** The modules of scenarios/examples, and the TypeScript in the pages for authors. */
async function examplesForAuthors(): Promise<Readonly<Record<string, string>>> {
  const examples = join(projectFolder, 'scenarios/examples');
  const modules = (await readdir(examples)).filter((name) => name.endsWith('.ts'));
  const files = await Promise.all(
    modules.map(async (name) => [name, await readFile(join(examples, name), 'utf8')] as const),
  );
  const pages = join(projectFolder, 'docs/scenarios');
  for (const page of await readdir(pages)) {
    const fences = (await readFile(join(pages, page), 'utf8')).matchAll(/```ts\n([^]*?)```/g);
    for (const [index, [, text = '']] of [...fences].entries())
      files.push([
        `${page.replace('.md', '')}-${index}.ts`,
        /^(?:export|import) /m.test(text) ? text : inFunction(text),
      ]);
  }
  return Object.fromEntries(files);
}

/** A part of a function, with the names that stand above it there. */
function inFunction(text: string): string {
  const head = "export default async function (call: Call): Promise<unknown> {\nconst owner = '102';\n";
  return `${head}${text}\nreturn owner;\n}\n`;
}

describe('the type declarations for modules', () => {
  it('make the TypeScript compiler accept right settings and results and refuse wrong ones', async function () {
    this.timeout(60_000);
    await using folder = await disposableFolder();
    await writeFile(join(folder.path, 'ringmaster.d.ts'), typeDeclarations(components));
    await writeFile(join(folder.path, 'module.ts'), MODULE);
    await writeFile(join(folder.path, 'uses.ts'), USES);
    const examples = await examplesForAuthors();
    expect(Object.keys(examples)).to.have.length.greaterThan(4);
    for (const [name, text] of Object.entries(examples)) await writeFile(join(folder.path, name), text);
    const compiler = join(projectFolder, 'node_modules/.bin/tsc');
    const own = {
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      target: 'es2024',
      module: 'esnext',
      lib: ['es2024'],
      types: [],
    };
    // Beside the declarations of a browser, which an editor takes when nothing is said.
    for (const compilerOptions of [own, { ...own, lib: ['es2024', 'dom'] }]) {
      await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      const { stdout } = await run(compiler, ['-p', folder.path]).catch((error: { stdout: string }) => error);
      expect(stdout).to.equal('');
    }
  });
});
