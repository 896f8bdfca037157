import { expect } from 'chai';
import { Programs } from '../../runtime/sandbox/host/programs.ts';
import { Quarantine } from '../../runtime/sandbox/host/quarantine.ts';

describe('sandbox: programs and quarantine', () => {
  const source = { source: '1', format: 'js', kind: 'block', file: 'f' } as const;

  it('numbers a source once, keeps others of the same version, and drops the least recently used', () => {
    const forgotten: number[] = [];
    const programs = new Programs(2, ({ id }) => forgotten.push(id));
    const { id } = programs.find('v1', source);
    expect(programs.find('v1', { ...source }).id).to.equal(id);
    const other = programs.find('v1', { ...source, source: '2' });
    expect(other.id).not.to.equal(id);
    expect(programs.find('v1', source).id).to.equal(id);
    expect(programs.find('v1', { ...source, source: '2' }).id).to.equal(other.id);
    expect(forgotten).to.deep.equal([]);
    programs.find('v1', { ...source, line: 7 });
    expect(forgotten).to.deep.equal([id]);
    programs.find('v2', source);
    expect(forgotten).to.deep.equal([id, other.id]);
  });

  it('keeps a program apart for ten minutes', () => {
    const quarantine = new Quarantine();
    quarantine.add('p', 1000);
    expect(quarantine.has('p', 1000 + 599_999)).to.equal(true);
    expect(quarantine.has('q', 1000)).to.equal(false);
    expect(quarantine.has('p', 1000 + 600_000)).to.equal(false);
  });
});
