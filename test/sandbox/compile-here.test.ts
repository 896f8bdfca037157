import { expect } from 'chai';
import { type Sandbox, type ScriptSource, compileHere, openSandbox } from '../../runtime/sandbox/index.ts';

describe('compiling without an isolate', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  const SOURCES: readonly (readonly [what: string, kind: ScriptSource['kind'], source: string, isSure: boolean])[] = [
    ['a block', 'block', 'const a: number = await vars.b;\nreturn a satisfies number;', true],
    ['a module', 'module', 'type A = 1;\nexport default async (call: Call): Promise<A> => 1;', true],
    ['a type that is none', 'block', 'const a: = 1;', true],
    ['an enum', 'module', 'enum A { B }\nexport default () => A;', true],
    ['a block that leaves its function', 'block', '}); log(1); (async function () {', false],
    ['a mistake that only V8 names', 'block', 'let a; let a;', false],
    ['an import', 'module', "import a from 'b';\nexport default () => a;", true],
  ];
  for (const [what, kind, source, isSure] of SOURCES)
    it(`reports the same as a sandbox about ${what}, or leaves it to one`, async () => {
      const asked: ScriptSource = { source, kind, format: 'ts', file: 'x.ts' };
      const here = compileHere(asked);
      expect(here !== undefined).to.equal(isSure);
      if (here) expect(here).to.deep.equal(await sandbox.compile(asked));
      else expect((await sandbox.compile(asked)).ok).to.equal(false);
    });

  it('leaves everything to a sandbox after a too deeply nested source', async () => {
    const nested: ScriptSource = { source: '('.repeat(3000), kind: 'block', format: 'ts', file: 'x.ts' };
    const typed: ScriptSource = { source: 'const a: number = 1;', kind: 'block', format: 'ts', file: 'x.ts' };
    expect(compileHere(nested)).to.have.property('ok', false);
    expect(compileHere(typed)).to.equal(undefined);
    expect((await sandbox.compile(typed)).ok).to.equal(true);
  });
});
