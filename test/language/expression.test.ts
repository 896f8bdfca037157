import { expect } from 'chai';
import fc from 'fast-check';
import { ExpressionCompiler } from '../../runtime/language/expression/expression.ts';
import { ScenarioError } from '../../runtime/language/errors.ts';
import { type Value, fromCel, toCel } from '../../runtime/language/values.ts';

const compiler = new ExpressionCompiler({
  variables: new Map([
    ['tries', 'integer'],
    ['name', 'string'],
    ['anything', 'any'],
    ['items', 'list'],
    ['price', 'number'],
  ]),
  records: new Map([['ask', { digits: 'string', count: 'integer' }]]),
});
const scope = {
  tries: 2n,
  name: 'bo',
  anything: new Map<string, unknown>([
    ['a', 1n],
    ['half', 0.5],
  ]),
  items: ['x'],
  ask: { digits: '12', count: 1n },
  price: 2.5,
};

function evaluate(source: string): Value {
  const compiled = compiler.compile(source);
  if ('problem' in compiled) throw new Error(compiled.problem.message);
  return compiled.expression.evaluate(scope);
}

describe('expressions', () => {
  for (const [source, value] of [
    ['tries + 1', 3],
    ['tries >= 3', false],
    ['ask.digits == "12" && ask.count == 1', true],
    ['name + string(tries)', 'bo2'],
    ['tries > 1 ? "many" : "few"', 'many'],
    ['anything.a + 1', 2],
    ['items[0]', 'x'],
    ['{"a": [1, 2.5, null]}', { a: [1, 2.5, null] }],
    ['[1, 2].map(i, i * 2)', [2, 4]],
    ['price * 2', 5],
    ['tries + price', 4.5],
    ['7 - price', 4.5],
    ['price / tries', 1.25],
    ['5 / price', 2],
    ['tries / 2.0', 1],
    ['price == 2', false],
    ['tries == 2.0', true],
    ['2.0 != tries', false],
    ['price > tries', true],
    ['anything.half * 2 == 1', true],
    ['anything.a / 2 + anything.half', 0.5],
    ['price * 2 + 1 > 5 ? "much" : "little"', 'much'],
  ] as const) {
    it(`${source} is ${JSON.stringify(value)}`, () => expect(evaluate(source)).to.deep.equal(value));
  }

  for (const [source, start, message, suggestion] of [
    ['tris + 1', 0, 'unknown name "tris"', 'did you mean "tries"?'],
    ['1 + ask.digts', 8, 'there is no field "digts"', 'did you mean "digits"?'],
    ['tries +', 7, 'the expression is incomplete', 'write a value behind +'],
    ['(tries + 1', undefined, 'the expression is incomplete', 'close the ('],
    [' ', undefined, 'the expression is incomplete', 'write a name or a value between ${ and }'],
    ['name + tries', 0, 'these types do not go together: string + integer', 'convert with string(...)'],
    [
      'name.matches("(a+)+$")',
      0,
      'the function "matches" is not available',
      'use startsWith, endsWith, contains or ==',
    ],
    ['tries++', 5, 'this is not valid syntax', 'write + 1, and give the value to a variable by set'],
    ['tries == 1 ? "a"', undefined, 'the expression is incomplete', 'write condition ? a : b'],
    ['name[0]', undefined, 'a value of type string has no fields and no items', 'write substring(0, 1)'],
    ['now().getHours()', 0, 'now is no function', 'write now, e.g. now.getHours()'],
    ['Date.now()', 0, 'unknown name "Date"', 'the time is now, e.g. now.getHours()'],
    ['now.getDay()', 4, 'there is no function "getDay"', 'here it is "getDayOfWeek"'],
    ['items.map(a, items.map(b, b))', undefined, '"map" inside another comprehension is not available', undefined],
  ] as const) {
    it(`${source}: ${message}`, () => {
      const compiled = compiler.compile(source);
      if (!('problem' in compiled)) throw new Error('no problem was found');
      expect(compiled.problem.message).to.equal(message);
      expect(compiled.problem.suggestion).to.equal(suggestion);
      if (start !== undefined) expect(compiled.problem.start).to.equal(start);
    });
  }

  it('reports every unknown name once', () => {
    const found = (source: string): string[] => {
      const compiled = compiler.compile(source);
      if (!('problem' in compiled)) throw new Error('no problem was found');
      return [compiled.problem, ...(compiled.more ?? [])].map(({ start, message }) => `${start} ${message}`);
    };
    expect(
      found('trys < 3 && ask.digit == "1" && items.exists(x, x == y) && trys > now.getHours() && nme'),
    ).to.deep.equal([
      '0 unknown name "trys"',
      '16 there is no field "digit"',
      '53 unknown name "y"',
      '84 unknown name "nme"',
    ]);
    expect(found('tries + name == nobody')).to.deep.equal([
      '0 these types do not go together: integer + string',
      '16 unknown name "nobody"',
    ]);
  });

  it('fails with the expression in the message when a key is missing at run time', () => {
    expect(() => evaluate('anything.b')).to.throw(ScenarioError, '${anything.b}: there is no field "b"');
  });

  it('fails for a result that is not a finite number', () => {
    for (const source of ['price / 0', 'anything.half / 0', '-1.0 / 0.0', '0.0 / 0'])
      expect(() => evaluate(source), source).to.throw(ScenarioError, 'the result is no finite number: division by 0');
    expect(() => evaluate('tries / 0')).to.throw(ScenarioError, 'division by zero');
  });

  it('cannot reach prototypes of its objects', () => {
    for (const source of ['anything.constructor', 'anything.__proto__', 'items.length', 'name.constructor']) {
      expect(() => evaluate(source), source).to.throw();
    }
  });

  it('refuses values that are too large', () => {
    const long = { ...scope, name: 'x'.repeat(16_000) };
    const compiled = compiler.compile('name + name');
    if ('problem' in compiled) throw new Error(compiled.problem.message);
    expect(() => compiled.expression.evaluate(long)).to.throw(ScenarioError, 'too long');
    expect(() => evaluate('9007199254740991 + 1')).to.throw(ScenarioError, 'too large');
  });

  it('refuses an expression that is too deep or too long', () => {
    expect(compiler.compile(`${'('.repeat(5000)}1${')'.repeat(5000)}`)).to.have.property('problem');
    expect(compiler.compile(Array.from({ length: 1000 }, () => '1').join('+'))).to.have.property('problem');
  });

  it('carries any JSON value into an expression and back', () => {
    const json = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.maxSafeInteger(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          tie('value'),
          { maxKeys: 5 },
        ),
      ),
    }));
    fc.assert(
      fc.property(json.value, (value) => {
        expect(fromCel(toCel(value, 'any'))).to.deep.equal(structuredClone(value));
      }),
    );
  });
});
