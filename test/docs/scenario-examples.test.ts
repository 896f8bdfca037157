import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { LazySandbox } from '../../runtime/cli/lazy-sandbox.ts';
import { components } from '../../runtime/component-registry/index.ts';
import type { Value } from '../../runtime/language/values.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { program, projectFolder } from '../support/scenarios.ts';

const FOLDER = 'docs/scenarios';
/** Keys at the top of a scenario; an example with another one is a list of blocks. */
const TOP = new Set('id name description parameters variables start finally limits blocks on starts'.split(' '));

type Target = string | Readonly<Record<string, string>>;
interface Block {
  readonly next?: string;
  readonly exits?: Readonly<Record<string, string>>;
}
interface Example {
  readonly id?: string;
  readonly start?: string;
  readonly finally?: string;
  readonly on?: Readonly<Record<string, Target>>;
  readonly parameters?: object;
  readonly variables?: object;
  readonly blocks: Readonly<Record<string, Block | null>>;
}

/** What stands around an example, by its page and its first key. The names are parameters, with their values. */
const AROUND: Readonly<Record<string, { readonly names?: Readonly<Record<string, Value>>; readonly more?: object }>> = {
  'blocks.md open': { names: { zone: 'Europe/London' } },
  'calls.md ring_them': { names: { to: '102' }, more: { caller: false } },
  'calls.md give_away': { names: { ring_agent: { dialogid: 'dialog-3' } } },
  'menus.md questions': { more: { variables: { answers: [] } } },
  'prompts.md balance': { names: { find: { entity: { balance: 12.5, due: '2026-12-01' } } } },
  'scripts.md check_number': { names: { ask: { digits: '1234' } } },
  'speech.md try_owner': { more: { finally: 'was_there_one' } },
  'speech.md save': {
    names: { owner: '102' },
    more: {
      start: 'message',
      blocks: { message: { record: { max: '2s' }, next: 'save' } },
      on: { dtmf: { 1: 'messages' } },
    },
  },
  'starting.md ring_them': { names: { number: '102' }, more: { caller: false } },
  'README.md starts': { names: { department: 'sales' } },
};

/** The examples of a page, each with the key of `AROUND`. */
async function examplesOf(
  page: string,
): Promise<readonly (readonly [key: string, example: Record<string, unknown>])[]> {
  const text = await readFile(path.join(projectFolder, page), 'utf8');
  return [...text.matchAll(/```yaml\n([^]*?)```/g)].flatMap(([, source = '']) => {
    const example = parse(source) as Record<string, unknown>;
    return 'tests' in example ? [] : [[`${path.basename(page)} ${Object.keys(example)[0]}`, example] as const];
  });
}

function targetsOf({ next, exits = {} }: Block): readonly string[] {
  return [...(next === undefined ? [] : [next]), ...Object.values(exits)];
}

/** A whole scenario: blocks that the example names and does not show lead on to those that it shows. */
function completed(example: Record<string, unknown>, { blocks: further, ...more }: { blocks?: object }): Example {
  const isWhole = Object.keys(example).every((key) => TOP.has(key));
  const given = { ...(isWhole ? example : { blocks: { ...example, ...further } }), ...more } as Partial<Example>;
  const shown = given.blocks ?? { first: { next: 'end', answer: null } as Block };
  const start = given.start ?? Object.keys(shown)[0] ?? '';
  const roots = [
    start,
    given.finally ?? [],
    Object.values(given.on ?? {}).flatMap((each) => (typeof each === 'string' ? each : Object.values(each))),
  ].flat();
  const blocks: Record<string, Block> = Object.fromEntries(
    Object.entries(shown).map(([name, block]) => [name, block ?? {}]),
  );
  const stubs = [...new Set([...roots, ...Object.values(blocks).flatMap(targetsOf)])].filter(
    (name) => name !== 'end' && !(name in blocks),
  );
  for (const name of stubs) blocks[name] = { log: name, next: 'end' } as Block;
  for (const name of stubs) {
    const reached = reachable(blocks, roots);
    const lost = Object.keys(blocks).find((each) => !reached.has(each));
    if (lost !== undefined && reached.has(name)) blocks[name] = { log: name, next: lost } as Block;
  }
  return { id: 'example', start, ...given, blocks };
}

function reachable(blocks: Readonly<Record<string, Block>>, roots: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const block = blocks[name];
    if (block === undefined || found.has(name)) continue;
    found.add(name);
    open.push(...targetsOf(block));
  }
  return found;
}

const names = (await readdir(path.join(projectFolder, FOLDER))).map((name) => `${FOLDER}/${name}`);
const examples = (await Promise.all([...names.toSorted(), 'scenarios/README.md'].map(examplesOf))).flat();

/** Other scenarios that the examples name. */
const OTHERS: Readonly<Record<string, string>> = {
  accept: 'start: a\nblocks:\n  a: { return: true }',
  survey: 'start: a\nblocks:\n  a: { return: { asked: 1 } }',
};

describe('the scenarios in the pages', () => {
  const sandbox = new LazySandbox();
  let folder: string;

  before('write the scenarios that they name', async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ringmaster-pages-'));
    for (const [id, text] of Object.entries(OTHERS))
      await writeFile(path.join(folder, `${id}.yaml`), `id: ${id}\n${text}\n`);
  });

  after('remove them', async () => {
    await sandbox[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it('are all found', () => {
    expect(examples.length).to.be.greaterThan(30);
    const keys = examples.map(([key]) => key);
    expect(Object.keys(AROUND).filter((key) => !keys.includes(key))).to.deep.equal([]);
  });

  for (const [index, [key, example]] of examples.entries())
    it(`${index + 1}, ${key}: has no mistakes, and runs`, async () => {
      const { names: known = {}, more = {} } = AROUND[key] ?? {};
      const { caller = true, ...around } = more as { caller?: boolean };
      const whole = completed(example, around);
      const parameters = Object.fromEntries(Object.keys(known).map((name) => [name, 'any']));
      const source = stringify({ ...whole, ...(Object.keys(known).length === 0 ? {} : { parameters }) });
      const { outcome } = await simulate(
        { ...program(source), file: path.join(folder, 'example.yaml') },
        {
          components,
          openSandbox: sandbox.open,
          args: known,
          http: { 'GET https://crm.example.com/orders': { json: {} } },
          script: caller ? { direction: 'connected', hangsUpAfter: 60_000 } : { direction: 'outgoing' },
        },
      );
      expect(outcome.error, source).to.equal(undefined);
    });
});
