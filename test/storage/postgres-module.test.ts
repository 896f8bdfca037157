import { cachedDataVersionTag } from 'node:v8';
import { expect } from 'chai';
import { compilePostgres } from '../../runtime/storage/pglite/postgres-module.ts';

describe('the module of PostgreSQL', () => {
  it('leaves the settings of V8 as they were, so that compiled code stays usable', () => {
    const before = cachedDataVersionTag();
    const module = compilePostgres();
    expect(cachedDataVersionTag()).to.equal(before);
    expect(Object.prototype.toString.call(module)).to.equal('[object WebAssembly.Module]');
  });
});
