import { expect } from 'chai';
import {
  ExpressionParser,
  FilterError,
  LIMITS,
  parseFilter,
  parseOrder,
  toPredicate,
  type ValueType,
} from '../../../runtime/model/filter/index.ts';

const fields = new Map<string, ValueType>([
  ['text', 'text'],
  ['number', 'number'],
  ['flag', 'boolean'],
  ['any', 'json'],
  ['texts', 'text[]'],
  ['constructor', 'json'],
]);
const NOW = Date.UTC(2026, 10, 21);
const parser = (): ExpressionParser => new ExpressionParser({ fields, now: NOW });

function matches(filter: unknown, item: Readonly<Record<string, unknown>>): boolean {
  return toPredicate(parseFilter(parser(), filter))(item);
}

function refusal(parse: () => unknown): FilterError {
  try {
    parse();
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('filters', () => {
  it('take a property named like one of every object for null where an item lacks it', () => {
    const isNull = ['is_null', ['property', 'constructor']];
    expect([matches(isNull, {}), matches(isNull, { constructor: 1 })]).to.deep.equal([true, false]);
  });

  const refused: readonly [string, unknown][] = [
    ['filter', 'text'],
    ['filter', []],
    ['filter', [1]],
    ['filter[0]', ['nonsense', 1]],
    ['filter[1]', ['not', ['property', 'nothing']]],
    ['filter', ['=', 1]],
    ['filter', ['property', 'text']],
    ['filter[2]', ['=', ['property', 'text'], 1]],
    ['filter[2][2]', ['and', true, ['<', ['property', 'number'], 'x']]],
    ['filter[1]', ['<', ['property', 'text', 'x'], 1]],
    ['filter', ['<', ['property', 'flag'], true]],
    ['filter[2]', ['in', ['property', 'text'], 'a']],
    ['filter[2]', ['in', ['property', 'text'], { a: 1 }]],
    ['filter[1]', ['and', ['sum', ['property', 'number']]]],
    ['filter[2]', ['like', ['property', 'text'], ['property', 'text']]],
    ['filter[2]', ['like', ['property', 'text'], 'a\\']],
    ['filter[2]', ['regexp', ['property', 'text'], '(a)\\1']],
    ['filter[2]', ['regexp', ['property', 'text'], '(?=a)']],
    ['filter[2]', ['regexp', ['property', 'text'], 'x'.repeat(LIMITS.pattern + 1)]],
    ['filter[2]', ['=', ['property', 'text'], 'a\0b']],
    ['filter[2]', ['=', ['property', 'text'], '\ud800']],
    ['filter[1][2]', ['=', ['trunc', 'second', 'x'], 1]],
    ['filter[1][1]', ['=', ['trunc', 'decade', 1], 1]],
    ['filter.nothing', { nothing: 1 }],
    ['filter.number', { number: 'x' }],
    ['filter.number', { number: '1~2~3' }],
    ['filter.flag', { flag: 'perhaps' }],
    ['filter.text', { text: '/reg/(' }],
    ['filter.text.x', { text: { x: 1 } }],
  ];
  for (const [path, filter] of refused) {
    it(`are refused at ${path}: ${JSON.stringify(filter).slice(0, 80)}`, () => {
      const error = refusal(() => parseFilter(parser(), filter));
      expect(error).to.include({ path, field: 'filter' });
      expect(error.message.startsWith(path)).to.equal(true);
    });
  }

  it('have limits of depth and size', () => {
    const nest = (depth: number): unknown => (depth === 0 ? true : ['not', nest(depth - 1)]);
    parseFilter(parser(), nest(LIMITS.depth));
    expect(refusal(() => parseFilter(parser(), nest(LIMITS.depth + 1))).message).to.include('32 deep');
    parseFilter(parser(), ['or', ...Array.from({ length: LIMITS.nodes - 1 }, () => true)]);
    const wide = ['or', ...Array.from({ length: LIMITS.nodes }, () => true)];
    expect(refusal(() => parseFilter(parser(), wide)).message).to.include('512 nodes');
    const deep = (depth: number): unknown => (depth === 0 ? 'x' : { a: deep(depth - 1) });
    expect(refusal(() => parseFilter(parser(), { any: deep(100) })).message).to.include('32 deep');
    expect(refusal(() => parseFilter(parser(), { text: 'x|'.repeat(600) })).message).to.include('512 nodes');
  });

  it('name functions in any case and by every synonym', () => {
    for (const name of ['equal', 'EQUAL', '==', '=', 'eq', 'Eq']) {
      expect(matches([name, ['PROP', 'number'], 5], { number: 5 }), name).to.equal(true);
    }
    expect(matches(['<', ['field', 'number'], ['now']], { number: NOW - 1 })).to.equal(true);
    expect(matches(['one_of', ['property', 'any', 'a'], ['value', [1, 'x']]], { any: { a: 'x' } })).to.equal(true);
    expect(matches(['=', ['property', 'any'], ['const', { b: [1], a: null }]], { any: { a: null, b: [1] } })).to.equal(
      true,
    );
  });

  it('escape characters in the object notation', () => {
    expect(matches({ text: 'a\\|b' }, { text: 'a|b' })).to.equal(true);
    expect(matches({ text: '100\\%' }, { text: '100%' })).to.equal(true);
    expect(matches({ text: '100\\%%' }, { text: '100% sure' })).to.equal(true);
    expect(matches({ text: 'a_c%' }, { text: 'abcd' })).to.equal(false);
    expect(matches({ text: 'a~b;c' }, { text: 'a~b;c' })).to.equal(true);
    expect(matches({ any: { a: '5\\~6' } }, { any: { a: '5~6' } })).to.equal(true);
    expect(matches({ any: { a: '5~6' } }, { any: { a: 5.5 } })).to.equal(true);
    expect(matches({ any: { a: '5' } }, { any: { a: 5 } })).to.equal(true);
    expect(matches({ number: '~5 ; 10~12; 20' }, { number: 11 })).to.equal(true);
    expect(matches({ texts: 'a|b' }, { texts: ['b'] })).to.equal(true);
    expect(matches({ text: ['a', 'b'] }, { text: 'b' })).to.equal(true);
  });

  it('serve as orders, too', () => {
    expect(parseOrder(parser(), ['text', { number: 'desc' }, ['asc', ['length', ['prop', 'text']]]])).to.have.length(3);
    for (const order of ['text', [1], [{ text: 'up' }], ['nothing'], ['texts'], [['asc']]]) {
      expect(refusal(() => parseOrder(parser(), order)).path, JSON.stringify(order)).to.match(/^order/);
    }
  });
});
