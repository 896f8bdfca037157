import { expect } from 'chai';
import fc from 'fast-check';
import { parseDuration } from '../../runtime/language/duration.ts';
import { editDistance, nearest } from '../../runtime/words/nearest.ts';
import { splitTemplate } from '../../runtime/language/expression/template.ts';

describe('durations', () => {
  for (const [text, milliseconds] of [
    ['500ms', 500],
    ['5s', 5000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['0s', 0],
    ['168h', 604_800_000],
    ['169h', undefined],
    ['5', undefined],
    ['5 s', undefined],
    ['-1s', undefined],
    ['1e3s', undefined],
    ['', undefined],
  ] as const) {
    it(`"${text}" is ${milliseconds ?? 'none'}`, () => expect(parseDuration(text)).to.equal(milliseconds));
  }
});

describe('texts with expressions', () => {
  const parts = (text: string) => {
    const result = splitTemplate(text);
    return 'parts' in result
      ? result.parts.map((part) => (part.kind === 'text' ? part.text : [part.source]))
      : `unclosed at ${result.unclosedAt}`;
  };
  it('splits at expressions', () => expect(parts('a ${b} c${d}')).to.deep.equal(['a ', ['b'], ' c', ['d']]));
  it('respects braces and quotes inside expressions', () =>
    expect(parts('${ {"}": 1}.size() + "\\"}" }x')).to.deep.equal([[' {"}": 1}.size() + "\\"}" '], 'x']));
  it('keeps an escaped start', () => expect(parts('costs $${5}')).to.deep.equal(['costs ${5}']));
  it('finds an unclosed expression', () => expect(parts('a ${b')).to.equal('unclosed at 2'));
  it('returns a text without expressions unchanged', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('${')),
        (text) => {
          expect(parts(text)).to.deep.equal(text === '' ? [] : [text]);
        },
      ),
    );
  });
});

describe('nearest name', () => {
  for (const [word, candidates, found] of [
    ['anser', ['answer', 'ring'], 'answer'],
    ['paly', ['play', 'wait'], 'play'],
    ['on-error', ['on_error', 'error'], 'on_error'],
    ['xyz', ['answer', 'ring'], undefined],
    ['PLAY', ['play'], 'play'],
  ] as const) {
    it(`of ${word} is ${found ?? 'none'}`, () => expect(nearest(word, candidates)).to.equal(found));
  }
  it('has a distance that is symmetric and zero only for equal words', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).to.equal(editDistance(b, a));
        expect(editDistance(a, b) === 0).to.equal(a === b);
      }),
    );
  });

  it('skips candidates of a very different length', () => {
    // Letter by letter this would take minutes.
    expect(nearest('x'.repeat(20_000_000), ['sounds', 'repeat', 'stop_digits'])).to.equal(undefined);
  });
});
