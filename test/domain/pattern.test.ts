import { expect } from 'chai';
import fc from 'fast-check';
import { dialPattern } from '../../runtime/domain/routing/pattern.ts';

describe('dial pattern', () => {
  const cases: readonly [pattern: string, text: string, matches: boolean][] = [
    ['500', '500', true],
    ['500', '5001', false],
    ['', '', true],
    ['*70', '*70', true],
    ['*70', 'x70', false],
    ['5%', '5', true],
    ['5%', '599', true],
    ['5%', '459', false],
    ['%9', '119', true],
    ['%9', '191', false],
    ['%', '', true],
    ['%1%2%', '0102030', true],
    ['%1%2%', '0201', false],
    ['50?', '507', true],
    ['50?', '50', false],
    ['50?', '5077', false],
    ['?%', '', false],
    ['100\\%', '100%', true],
    ['100\\%', '1000', false],
    ['a\\\\b', 'a\\b', true],
    ['tail\\', 'tail\\', true],
  ];
  for (const [pattern, text, matches] of cases) {
    it(`${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      expect(dialPattern(pattern).matches(text)).to.equal(matches);
    });
  }

  it('without wildcards has a single matching text', () => {
    expect(dialPattern('1\\?').exact).to.equal('1?');
    expect(dialPattern('1?').exact).to.equal(undefined);
  });

  it('agrees with a regular expression for any pattern and text', () => {
    const part = fc.constantFrom('1', '2', '*', '#', '%', '?', '\\%', '\\?', '\\\\', '.');
    const toRegExp = (parts: readonly string[]): RegExp => {
      const source = parts.map((token) => {
        if (token === '%') return '[^]*';
        if (token === '?') return '[^]';
        return `\\u{${(token.at(-1) ?? '').codePointAt(0)?.toString(16)}}`;
      });
      return new RegExp(`^${source.join('')}$`, 'u');
    };
    const text = fc.string({ unit: fc.constantFrom('1', '2', '*', '#', '%', '?', '\\', '.'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), text, (parts, dialled) => {
        expect(dialPattern(parts.join('')).matches(dialled)).to.equal(toRegExp(parts).test(dialled));
      }),
      { numRuns: 2_000, seed: 11 },
    );
  });

  it('takes at most pattern length times text length, for any pattern', () => {
    const started = performance.now();
    expect(dialPattern('%1'.repeat(60)).matches(`${'1'.repeat(120)}2`)).to.equal(false);
    expect(performance.now() - started).to.be.lessThan(1000); // backtracking would need years
  });
});
