import { expect } from 'chai';
import { ExpressionCompiler } from '../../runtime/language/expression/expression.ts';
import type { Value, ValueType } from '../../runtime/language/values.ts';
import { problems } from '../support/scenarios.ts';

/** Expressions as authors write them who come from elsewhere. */
const compiler = new ExpressionCompiler({
  variables: new Map<string, ValueType>([
    ['name', 'string'],
    ['tries', 'integer'],
    ['amount', 'number'],
    ['done', 'boolean'],
    ['things', 'list'],
    ['data', 'object'],
  ]),
  records: new Map([['ask', { digits: 'string' }]]),
});
const scope = {
  name: 'anna',
  tries: 5n,
  amount: 2.5,
  done: true,
  things: ['x', 'y'],
  data: new Map<string, unknown>([['things', ['q']]]),
  ask: { digits: '12' },
  now: new Date('2026-11-23T09:30:00Z'),
};

function evaluate(source: string): Value {
  const compiled = compiler.compile(source);
  if ('problem' in compiled) throw new Error(compiled.problem.message);
  return compiled.expression.evaluate(scope);
}

describe('expressions in the syntax of other languages', () => {
  for (const [source, value] of [
    ['size(name) > 3 && name.startsWith("an")', true],
    ['name == "" ? "nobody" : name', 'anna'],
    ['has(data.city) ? data.city : "Berlin"', 'Berlin'],
    ['"city" in data', false],
    ['ask.digits in ["1", "12"]', true],
    ['things[size(things) - 1]', 'y'],
    ['things.join(", ")', 'x, y'],
    ['int(ask.digits) > 5', true],
    ['amount > 2', true],
    ['string(amount) + " EUR"', '2.5 EUR'],
    ['int(2.7)', 2],
    ['string(now).substring(0, 10)', '2026-11-23'],
    ['string(timestamp("2026-11-23T09:30:00+01:00"))', '2026-11-23T08:30:00.000Z'],
    ['now + duration("1h") > now', true],
    ['int(duration("1m30s"))', 90],
    ['string(now - timestamp("2026-11-23T09:29:58.5Z"))', '1.5s'],
    ['type(name) == string', true],
  ] as const)
    it(`${source} is ${JSON.stringify(value)}`, () => expect(evaluate(source)).to.equal(value));

  const elsewhere: Readonly<Record<string, string>> = {
    'name.length > 3': '5: a value of type string has no fields and no items; write size(...)',
    'name.empty': '5: a value of type string has no fields and no items; compare it with ""',
    'name.toUpperCase()': '5: there is no function "toUpperCase"; here it is "upperAscii"',
    'UPPER(name)': '0: there is no function "UPPER"; here it is "upperAscii"',
    'contains(name, "a")': '0: "contains" is not for values of type string, string; write value.contains(...)',
    'name ?? "nobody"': '5: this is not valid syntax; write name == "" ? other : name',
    'ask.digits ?? "1"': '11: this is not valid syntax; write ask.digits == "" ? other : ask.digits',
    'data.city ?? "Berlin"': '10: this is not valid syntax; write has(data.city) ? data.city : other',
    'name || "nobody"':
      '0: only true and false can be combined, not a value of type string; compare it, e.g. with == ""; for a default write x == "" ? other : x',
    'name | default("nobody")': '5: this is not valid syntax; write x == "" ? other : x',
    'name | upper':
      '5: this is not valid syntax; there are no filters: write upperAscii() as name.upperAscii(), size as size(name)',
    'coalesce(name, "x")': '0: there is no function "coalesce"; write x == "" ? other : x, or has(a.b) ? a.b : other',
    'name != null':
      '0: these types do not go together: string != null; an empty text is "", a number that was not set is 0',
    'name == undefined': '8: unknown name "undefined"; an empty text is "", a number that was not set is 0',
    'name is None': '5: this is not valid syntax; write == to compare',
    'done == True': '8: unknown name "True"; write true',
    'done == "true"':
      '0: these types do not go together: boolean == string; compare it with true or false, without quotes',
    'name ? 1 : 2': '0: a value of type string is not true or false; compare it, e.g. with == ""',
    'things ? 1 : 2': '0: a value of type list is not true or false; count it: size(...) > 0',
    '!things': '0: these types do not go together: !list; count it: size(...) > 0',
    'done ? 1 : "x"': '0: both results must be of one type, not integer and string; convert with string(...)',
    'IF(tries > 3, "a", "b")': '0: there is no function "IF"; write condition ? a : b',
    'if tries > 3 then "a"': '0: "if" is a word of the language; write condition ? a : b',
    '"a" if done else "b"': '4: this is not valid syntax; write condition ? a : b',
    'done ? "a"': '10: the expression is incomplete; write condition ? a : b',
    'name ?: "b"': '5: this is not valid syntax; write x == "" ? other : x',
    'name.match(/^[0-9]+$/)':
      '11: this is not valid syntax; there are no regular expressions: use startsWith, endsWith, contains or ==',
    'name =~ "^a"': '5: this is not valid syntax; use startsWith, endsWith, contains or ==',
    'name like "a%"': '5: this is not valid syntax; use startsWith, endsWith, contains or ==',
    'name not in things': '5: this is not valid syntax; write !(x in list)',
    'name <> "x"': '5: this is not valid syntax; write != to compare',
    'tries += 1': '7: this is not valid syntax; write + 1 or - 1, and give the value to a variable by set',
    'tries ** 2': '6: this is not valid syntax; write x * x',
    'tries in 1..5': '10: this is not valid syntax; write 1 <= x && x <= 5',
    '1 <= tries <= 5': '0: these types do not go together: boolean <= integer; write 1 <= x && x <= 5',
    'range(5)': '0: there is no function "range"; a loop counts: loop: { times: 5 }',
    '["1"].includes(name)': '6: there is no function "includes"; write x in list',
    'things.contains("x")': '7: "contains" is not for values of type list and string; write x in list',
    'things + "x"': '0: these types do not go together: list + string; write list + [x]',
    '[...things, "x"]': '1: this is not valid syntax; write list + [x]',
    'things.filter(x => x > 1)': '16: this is not valid syntax; write list.filter(x, x > 1)',
    'things.some(x => x == 1)': '14: this is not valid syntax; write list.exists(x, x > 1)',
    'things.reduce((a, b) => a + b)': '16: this is not valid syntax; a script block can do it',
    'things.sort()': '7: there is no function "sort"; a script block can do it',
    'things.last()': '7: there is no function "last"; write list[size(list) - 1]',
    'max(tries, 3)': '0: there is no function "max"; write a > b ? a : b',
    'Math.round(amount)': '0: unknown name "Math"; write round(...)',
    'amount.toFixed(2)': '7: there is no function "toFixed"; write round(x, 2)',
    'Number(ask.digits)': '0: there is no function "Number"; here it is "int"',
    'tries % 3.0': '0: these types do not go together: integer % number; convert with int(...)',
    'name[0:3]': '6: this is not valid syntax; write substring(from, to)',
    'name & "x"': '5: this is not valid syntax; write + to join texts, && for "and"',
    'name . "x"': '7: this is not valid syntax; write + to join texts',
    'f"Hello {name}"': '0: this is not valid syntax; write "text " + name',
    "'%s' % name": '0: these types do not go together: string % string; write "text " + name',
    "'it''s'": '4: this is not valid syntax; put the text between double quotes',
    $name: '0: this is not valid syntax; write the name itself, without $',
    '{{name}}': '0: this is not valid syntax; write the expression itself, without {{ }}',
    '.5': '0: this is not valid syntax; write 0.5',
    'now.hour < 12': '0: the time has no field "hour"; write now.getHours()',
    'now - 3600': '0: these types do not go together: time - integer; write duration("90s")',
    'now > "2026-01-01"': '0: these types do not go together: time > string; write timestamp("2026-01-01T00:00:00Z")',
    'new Date()': '0: this is not valid syntax; the time is now, e.g. now.getHours()',
    'duration("90s")': '0: a length of time is no value by itself; write int(...): its seconds',
    'JSON.stringify(data)': '0: unknown name "JSON"; a script block can do it',
    'random()': '0: there is no function "random"; a script block can do it',
    list: '0: this is the name of a type, and no value; compare it: type(x) == string, or choose another name',
  };
  for (const [source, told] of Object.entries(elsewhere))
    it(`${source} gets a suggestion`, () => {
      const compiled = compiler.compile(source);
      if (!('problem' in compiled)) throw new Error('no problem was found');
      const { start, message, suggestion } = compiled.problem;
      expect(`${start}: ${message}; ${suggestion}`).to.equal(told);
    });

  for (const [source, told] of [
    ['data.city', 'there is no field "city": check first with has(...)'],
    ['data.things.length', 'there is no field "length": texts and lists are counted by size(...)'],
    ['things[2]', 'there is no item 2: they count from 0, and size(...) tells how many'],
    ['int(name)', 'int(...) cannot convert this text'],
    ['things.all(x, x > 0)', 'these types do not go together: string > integer'],
  ] as const)
    it(`${source} fails with a message in the scenario language's terms`, () => {
      expect(() => evaluate(source)).to.throw(`\${${source}}: ${told}`);
    });

  it('cannot use reserved names of the language', () => {
    for (const name of ['list', 'google', 'optional', 'cel']) {
      const text = (where: string) => `id: t
${where}start: a
blocks:
  a: { log: "\${${name}}", next: end }
`;
      expect(problems(text(`variables: { ${name}: 1 }\n`))[0], name).to.include(`"${name}" cannot be the name`);
      expect(problems(text('')), name).to.have.length(1);
    }
  });
});
