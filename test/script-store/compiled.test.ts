import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompileResult, ScriptSource } from '../../runtime/sandbox/index.ts';
import { rememberCompiled } from '../../runtime/script-store/index.ts';

describe('remembered scripts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ringmaster-compiled-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let asked: string[];
  let warned: string[];
  beforeEach(() => {
    asked = [];
    warned = [];
  });

  const results: Readonly<Record<string, CompileResult>> = {
    'return 1': { ok: true, code: 'return 1' },
    'let a: number': { ok: true, code: 'let a        ' },
    'let =': { ok: false, problems: [{ line: 1, column: 5, message: 'unexpected' }] },
  };

  /** A node that starts. */
  function begin(
    file: string,
    prepared = join(folder, 'missing'),
  ): (source: string, more?: Partial<ScriptSource>) => Promise<CompileResult> {
    const compile = rememberCompiled({
      file,
      prepared,
      compile: async ({ source }) => {
        asked.push(source);
        return results[source] ?? { ok: true, code: source };
      },
      log: { warn: (_, message) => void warned.push(message) },
    });
    return (source, more) => compile({ source, format: 'ts', kind: 'block', file: 'x.yaml', ...more });
  }

  it('are compiled once, also over a restart; those with mistakes each time', async () => {
    const file = join(folder, 'once');
    for (const compile of [begin(file), begin(file)])
      for (const [source, result] of Object.entries(results)) {
        expect(await compile(source)).to.deep.equal(result);
        expect(await compile(source)).to.deep.equal(result);
      }
    expect(asked).to.deep.equal(['return 1', 'let a: number', 'let =', 'let =', 'let =', 'let =']);
  });

  it('are compiled once when two scenarios ask at once', async () => {
    const file = join(folder, 'at-once');
    const compile = begin(file);
    const both = await Promise.all([compile('let a: number'), compile('let a: number')]);
    expect(both).to.deep.equal([results['let a: number'], results['let a: number']]);
    expect(asked).to.deep.equal(['let a: number']);
    expect(readFileSync(file, 'utf8').trim().split('\n')).to.have.length(1);
  });

  it('of the installation are not compiled, nor changed', async () => {
    const prepared = join(folder, 'prepared');
    await begin(prepared)('let a: number');
    const text = readFileSync(prepared, 'utf8');
    asked = [];
    const compile = begin(join(folder, 'own'), prepared);
    expect(await compile('let a: number')).to.deep.equal(results['let a: number']);
    expect(await compile('return 1')).to.deep.equal(results['return 1']);
    expect(asked).to.deep.equal(['return 1']);
    expect(readFileSync(prepared, 'utf8')).to.equal(text);
  });

  it('are not those of another kind or format', async () => {
    const compile = begin(join(folder, 'kinds'));
    await compile('return 1');
    await compile('return 1', { format: 'js' });
    await compile('return 1', { kind: 'module' });
    expect(asked).to.have.length(3);
  });

  it('are compiled again when the file is damaged or cannot be written', async () => {
    const file = join(folder, 'damaged');
    await begin(file)('return 1');
    writeFileSync(file, `nonsense\nnull\n{"key":1}\n${readFileSync(file, 'utf8').slice(0, -9)}`);
    expect(await begin(file)('return 1')).to.deep.equal(results['return 1']);
    const compile = begin(join(folder, 'no-folder', 'file'));
    for (const source of ['return 1', 'let a: number']) expect(await compile(source)).to.deep.equal(results[source]);
    expect(asked).to.have.length(4);
    expect(warned).to.have.length(1);
  });
});
