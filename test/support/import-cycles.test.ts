import { expect } from 'chai';
import { importCycles, importedBy, importTangles, loadedBy } from './import-cycles.ts';

describe('import cycles', () => {
  const loads = (graph: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(graph));

  it('follow imports that Node loads, without type imports', () => {
    const source = `import { once } from 'node:events';
import type { A } from './type.ts';
export type { B } from './exported-type.ts';
import './effect.ts';
import c, { type D } from '../c.ts';
import {
  type E,
  type F,
} from './lines.ts';
export * from './exported/index.ts';
const text = "import './text.ts'";
export const quoted = \`
  from './template.ts'\`;`;
    expect(loadedBy('room/part/file.ts', source)).to.deep.equal([
      'room/part/effect.ts',
      'room/c.ts',
      'room/part/lines.ts',
      'room/part/exported/index.ts',
    ]);
  });

  it('with types follow every import', () => {
    const source = `import type { A } from './type.ts';
export type { B } from './exported-type.ts';
import { c } from './value.ts';
const text = "import './text.ts'";`;
    expect(importedBy('room/file.ts', source)).to.deep.equal([
      'room/type.ts',
      'room/exported-type.ts',
      'room/value.ts',
    ]);
  });

  it('are reported in the order of the imports, without the path to them', () => {
    const graph = loads({
      'main.ts': ['a.ts'],
      'a.ts': ['b.ts', 'd.ts'],
      'b.ts': ['c.ts'],
      'c.ts': ['a.ts'],
      'd.ts': [],
    });
    expect(importCycles(graph)).to.deep.equal([['a.ts', 'b.ts', 'c.ts']]);
  });

  it('include a file that imports itself', () => {
    expect(importCycles(loads({ 'a.ts': ['a.ts'] }))).to.deep.equal([['a.ts']]);
  });

  it('do not include two paths to one file', () => {
    expect(
      importCycles(loads({ 'a.ts': ['b.ts', 'c.ts'], 'b.ts': ['d.ts'], 'c.ts': ['d.ts'], 'd.ts': [] })),
    ).to.deep.equal([]);
  });

  it('that share a file are merged into one', () => {
    const graph = loads({
      'main.ts': ['a.ts', 'd.ts'],
      'a.ts': ['b.ts', 'c.ts'],
      'b.ts': ['a.ts', 'd.ts'],
      'c.ts': ['a.ts'],
      'd.ts': ['e.ts'],
      'e.ts': ['d.ts'],
    });
    expect(importTangles(graph)).to.deep.equal([
      ['d.ts', 'e.ts'],
      ['a.ts', 'b.ts', 'c.ts'],
    ]);
  });
});
