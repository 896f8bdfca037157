import { expect } from 'chai';
import { ExpressionCompiler } from '../../runtime/language/expression/expression.ts';
import { ScenarioError } from '../../runtime/language/errors.ts';
import type { Value } from '../../runtime/language/values.ts';
import { problems, program, simulate } from '../support/scenarios.ts';

const compiler = new ExpressionCompiler({
  variables: new Map([
    ['count', 'integer'],
    ['price', 'number'],
    ['data', 'any'],
    ['day', 'string'],
  ]),
  records: new Map([['scenario', { language: 'string' }]]),
});

function evaluate(source: string, language = 'en', more: Record<string, unknown> = {}): Value {
  const compiled = compiler.compile(source);
  if ('problem' in compiled) throw new Error(`${compiled.problem.message}; ${compiled.problem.suggestion ?? ''}`);
  const scope = { count: 1_234_567n, price: 12.5, data: 2.345, day: '2026-11-25T08:05:00Z', ...more };
  const value = compiled.expression.evaluate({
    ...scope,
    now: new Date('2026-11-25T08:05:00Z'),
    scenario: { language },
  });
  // CLDR puts narrow spaces before some signs.
  return typeof value === 'string' ? value.replaceAll(/[\u00a0\u202f]/g, ' ') : value;
}

describe('formatting functions of expressions', () => {
  for (const [source, en, de] of [
    ["format(now, 'long')", 'November 25, 2026', '25. November 2026'],
    [
      "format(now, 'full time', 'Europe/Berlin')",
      'Wednesday, November 25, 2026 at 9:05 AM',
      'Mittwoch, 25. November 2026 um 09:05',
    ],
    ["format(day, 'time')", '8:05 AM', '08:05'],
    ["format('2026-11-25T23:05:09Z', 'iso', 'Europe/Berlin')", '2026-11-26', '2026-11-26'],
    ["format('2026-11-25T23:05:09Z', 'iso time', 'Europe/Berlin')", '2026-11-26T00:05:09', '2026-11-26T00:05:09'],
    ["format(now, 'weekday')", 'Wednesday', 'Mittwoch'],
    ['format(count)', '1,234,567', '1.234.567'],
    ["format(count, 'plain')", '1234567', '1234567'],
    ["format(0.255, 'percent')", '25.5%', '25,5 %'],
    ["money(price, 'EUR')", '€12.50', '12,50 €'],
    ["money(count, 'JPY')", '¥1,234,567', '1.234.567 ¥'],
    ["money(data, 'EUR')", '€2.35', '2,35 €'],
  ] as const) {
    it(`${source} follows the language of the run`, () => {
      expect(evaluate(source, 'en')).to.equal(en);
      expect(evaluate(source, 'de')).to.equal(de);
    });
  }

  it('round half away from zero, to an integer or to digits', () => {
    const values = [
      'round(2.5)',
      'round(-2.5)',
      'round(count)',
      'round(data, 2)',
      'round(1.005, 2)',
      'round(1e300, 3)',
    ];
    expect(values.map((source) => evaluate(source))).to.deep.equal([3, -3, 1_234_567, 2.35, 1.01, 1e300]);
  });

  it('refuse unknown formats before the run where they are literal, else in it', () => {
    const thrown = (source: string, more = {}): string => {
      try {
        return `played ${JSON.stringify(evaluate(source, 'en', more))}`;
      } catch (error) {
        return `${error instanceof ScenarioError ? error.code : 'check'}: ${(error as Error).message}`;
      }
    };
    expect(thrown("format(now, 'lang')")).to.match(/^check: there is no format "lang"; did you mean "long"/);
    expect(thrown("money(price, 'euro')")).to.equal('check: "euro" is no currency; write its code, e.g. EUR');
    expect(thrown('format(now, day)')).to.match(/^expression: .*there is no format/);
    expect(thrown("format(price, 'long')")).to.match(/^expression: .*use decimal, plain, percent/);
    expect(thrown("format(day, 'long')", { day: 'soon' })).to.match(/^expression: .*"soon" is no time/);
    expect(thrown("format(day, 'long', 'Mars/X')")).to.match(/^expression: .*no time zone "Mars\/X"/);
    expect(thrown('round(day)')).to.match(/^check: "round" is not for values of type string/);
    expect(thrown('round(price, 99)')).to.match(/^expression: .*0 to 15/);
  });

  it('follow a language that the scenario sets', async () => {
    const source = (language: string) => `id: t
language: ${language}
variables: { said: "" }
start: a
blocks:
  a: { set: { said: "\${money(2, 'EUR')}" }, next: b }
  b: { language: en, next: c }
  c: { set: { said: "\${said + ' ' + money(2, 'EUR') + ' ' + scenario.language}" }, next: d }
  d: { return: "\${said}" }
`;
    const { outcome } = await simulate(program(source('de')));
    expect(JSON.stringify(outcome.value).replaceAll('\u00a0', ' ')).to.equal('"2,00 € €2.00 en"');
    expect(problems(source('german'))).to.deep.equal(['2:11: "german" is no language tag; write e.g. de or de-AT']);
  });
});
