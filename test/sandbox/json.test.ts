import { expect } from 'chai';
import { MAX_DEPTH, NotPlainError, parsePlain, stringifyPlain } from '../../runtime/sandbox/json.ts';

describe('sandbox: plain data', () => {
  it('passes unchanged', () => {
    const value = { a: [1, 'x', null, true, { b: {} }] };
    expect(parsePlain(stringifyPlain(value, 1000))).to.deep.equal(value);
    expect(stringifyPlain(undefined, 1000)).to.equal('null');
  });

  it('is refused in other forms', () => {
    expect(() => parsePlain('{')).to.throw(NotPlainError);
    expect(() => parsePlain('{"a": {"__proto__": 1}}')).to.throw(NotPlainError, '__proto__');
    const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parsePlain(deep(MAX_DEPTH))).to.be.an('array');
    expect(() => parsePlain(deep(MAX_DEPTH + 2))).to.throw(NotPlainError, 'deep');
    expect(() => stringifyPlain('x'.repeat(20), 10)).to.throw(NotPlainError, 'characters');
    expect(() => stringifyPlain(() => 1, 10)).to.throw(NotPlainError, 'function');
    expect(() => stringifyPlain(1n, 10)).to.throw(NotPlainError);
  });
});
