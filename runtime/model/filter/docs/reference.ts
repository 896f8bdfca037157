/** Arguments, result and meaning of each filter function, with an example that a test evaluates. */
import type { FunctionName } from '../functions.ts';
import { synonymsOf } from '../functions.ts';
import type { Item } from '../to-predicate.ts';
import { TRUNCATION_UNITS } from '../time.ts';

export interface FunctionReference {
  /** Names of the arguments; optional ones in brackets. */
  readonly takes: string;
  readonly gives: 'true or false' | 'a text' | 'a number' | 'milliseconds' | 'the type of its arguments';
  readonly text: string;
  readonly example: readonly unknown[];
  /** Result of the example for {@link ENTITY}; of an aggregate, for {@link ENTITIES}. */
  readonly value: unknown;
}

/** The entity of the examples. */
export const ENTITY: Item = {
  id: 'ann',
  name: 'Ann',
  age: 30,
  vip: true,
  note: null,
  tags: ['new', 'vip'],
  address: { city: 'Rome' },
  at: Date.UTC(2026, 10, 21, 15, 30),
};
/** The entities of the examples of aggregates. */
export const ENTITIES: readonly Item[] = [
  ENTITY,
  { ...ENTITY, id: 'bob', age: 20 },
  { ...ENTITY, id: 'eve', age: null },
];
/** Value of `now` in the examples. */
export const NOW = Date.UTC(2026, 10, 22);

const NAME = ['property', 'name'];
const AGE = ['property', 'age'];
const TAGS = ['property', 'tags'];
const AT = ['property', 'at'];

const compare = (text: string, example: readonly unknown[], value: boolean): FunctionReference => ({
  takes: 'a, b',
  gives: 'true or false',
  text,
  example,
  value,
});
const number = (takes: string, text: string, example: readonly unknown[], value: number): FunctionReference => ({
  takes,
  gives: 'a number',
  text,
  example,
  value,
});
const text = (takes: string, meaning: string, example: readonly unknown[], value: string): FunctionReference => ({
  takes,
  gives: 'a text',
  text: meaning,
  example,
  value,
});

export const REFERENCE: Readonly<Record<string, Readonly<Partial<Record<FunctionName, FunctionReference>>>>> = {
  Logic: {
    and: {
      takes: 'condition, ...',
      gives: 'true or false',
      text: 'all conditions hold',
      example: ['and', ['>', AGE, 18], ['property', 'vip']],
      value: true,
    },
    or: {
      takes: 'condition, ...',
      gives: 'true or false',
      text: 'a condition holds',
      example: ['or', ['>', AGE, 60], ['property', 'vip']],
      value: true,
    },
    not: {
      takes: 'condition',
      gives: 'true or false',
      text: 'the condition does not hold',
      example: ['not', ['>', AGE, 60]],
      value: true,
    },
    true: { takes: '', gives: 'true or false', text: 'true', example: ['true'], value: true },
    false: { takes: '', gives: 'true or false', text: 'false', example: ['false'], value: false },
  },
  Comparison: {
    equal: compare('of any type', ['equal', NAME, 'Ann'], true),
    not_equal: compare('of any type', ['not_equal', NAME, 'Ann'], false),
    less: compare('numbers, or texts by code point', ['less', AGE, 30], false),
    less_or_equal: compare('numbers, or texts by code point', ['less_or_equal', AGE, 30], true),
    greater: compare('numbers, or texts by code point', ['greater', AGE, 18], true),
    greater_or_equal: compare('numbers, or texts by code point', ['greater_or_equal', NAME, 'B'], false),
    between: {
      takes: 'value, from, to',
      gives: 'true or false',
      text: 'both ends included',
      example: ['between', AGE, 18, 30],
      value: true,
    },
    in: {
      takes: 'value, list',
      gives: 'true or false',
      text: 'the list contains the value',
      example: ['in', NAME, ['list', 'Ann', 'Bob']],
      value: true,
    },
    is_null: {
      takes: 'value',
      gives: 'true or false',
      text: 'there is no value',
      example: ['is_null', ['property', 'note']],
      value: true,
    },
    is_empty: {
      takes: 'value',
      gives: 'true or false',
      text: 'null, an empty text, list or object',
      example: ['is_empty', TAGS],
      value: false,
    },
  },
  Texts: {
    like: {
      takes: 'text, pattern',
      gives: 'true or false',
      text: '`%` is any text, `\\` makes the next character literal',
      example: ['like', NAME, 'A%'],
      value: true,
    },
    ilike: {
      takes: 'text, pattern',
      gives: 'true or false',
      text: 'the same, ignoring case',
      example: ['ilike', NAME, 'a%'],
      value: true,
    },
    regexp: {
      takes: 'text, pattern',
      gives: 'true or false',
      text: 'the regular expression is found in the text; without back references and look-around',
      example: ['regexp', NAME, '^A.n$'],
      value: true,
    },
    iregexp: {
      takes: 'text, pattern',
      gives: 'true or false',
      text: 'the same, ignoring case',
      example: ['iregexp', NAME, '^an+$'],
      value: true,
    },
    starts_with: compare('text a begins with text b', ['starts_with', NAME, 'An'], true),
    ends_with: compare('text a ends with text b', ['ends_with', NAME, 'nn'], true),
    contains: compare('text b is somewhere in text a', ['contains', NAME, 'x'], false),
    lower: text('text', 'in lower case', ['lower', NAME], 'ann'),
    upper: text('text', 'in upper case', ['upper', NAME], 'ANN'),
    length: number('text', 'number of characters', ['length', NAME], 3),
    concat: text('text, ...', 'the texts joined', ['concat', NAME, '!'], 'Ann!'),
    substr: text(
      'text, start, [length]',
      'a part; the first character is 0, without length up to the end',
      ['substr', NAME, 1, 2],
      'nn',
    ),
  },
  Lists: {
    contains_all: compare('list a contains all of list b', ['contains_all', TAGS, ['list', 'new']], true),
    contains_any: compare('list a contains one of list b', ['contains_any', TAGS, ['list', 'old', 'vip']], true),
    size: number('list', 'number of elements', ['size', TAGS], 2),
  },
  Numbers: {
    add: number('a, b, ...', 'sum', ['add', AGE, 1, 2], 33),
    sub: number('a, b', 'a minus b', ['sub', AGE, 1], 29),
    mul: number('a, b, ...', 'product', ['mul', AGE, 2], 60),
    div: number('a, b', 'a divided by b, with fraction; null when b is 0', ['div', AGE, 4], 7.5),
    mod: number('a, b', 'remainder of a by b, with the sign of a', ['mod', AGE, 7], 2),
    abs: number('a', 'without sign', ['abs', -5], 5),
    round: number('a', 'the nearest whole number, halves away from 0', ['round', 2.5], 3),
    floor: number('a', 'the next whole number below', ['floor', 2.7], 2),
    ceil: number('a', 'the next whole number above', ['ceil', 2.2], 3),
  },
  Times: {
    now: { takes: '', gives: 'milliseconds', text: 'the time of the request', example: ['now'], value: NOW },
    ts: {
      takes: 'text',
      gives: 'milliseconds',
      text: 'of an ISO 8601 time; without zone it is UTC',
      example: ['ts', '2026-11-21'],
      value: Date.UTC(2026, 10, 21),
    },
    trunc: {
      takes: 'unit, ms',
      gives: 'milliseconds',
      text: `the beginning of the ${TRUNCATION_UNITS.slice(0, -1).join(', ')} or ${TRUNCATION_UNITS.at(-1)} of the time; the unit comes first, a week begins on Monday`,
      example: ['trunc', 'day', AT],
      value: Date.UTC(2026, 10, 21),
    },
    year: number('ms', 'year of the time', ['year', AT], 2026),
    month: number('ms', 'month, from 1', ['month', AT], 11),
    day: number('ms', 'day of the month, from 1', ['day', AT], 21),
    hour: number('ms', 'hour, from 0', ['hour', AT], 15),
  },
  Choice: {
    if: {
      takes: 'condition, then, else',
      gives: 'the type of its arguments',
      text: 'one of two values',
      example: ['if', ['>', AGE, 17], 'adult', 'child'],
      value: 'adult',
    },
    coalesce: {
      takes: 'value, ...',
      gives: 'the type of its arguments',
      text: 'the first that is not null',
      example: ['coalesce', ['property', 'note'], 'none'],
      value: 'none',
    },
  },
  'In aggr only': {
    count: number('[value]', 'number of entities, or of values that are not null', ['count', AGE], 2),
    count_distinct: number('value', 'number of different values', ['count_distinct', NAME], 1),
    sum: number('number', 'sum', ['sum', AGE], 50),
    avg: number('number', 'mean of the values that are not null', ['avg', AGE], 25),
    min: {
      takes: 'value',
      gives: 'the type of its arguments',
      text: 'the least number or text',
      example: ['min', AGE],
      value: 20,
    },
    max: {
      takes: 'value',
      gives: 'the type of its arguments',
      text: 'the greatest number or text',
      example: ['max', AGE],
      value: 30,
    },
  },
};

const INTRODUCTION = `# Functions of filter expressions

<!-- Made by runtime/model/filter/docs/write.ts. -->

An expression is an array: the name of a function, in any case, and its arguments. An argument is an expression or a plain value.
Expressions serve \`filter\`, \`order\`, \`aggr\` and \`groupby\` of every collection, and the filters of subscriptions; see
[model.md](model.md#lists).

| argument | meaning |
| --- | --- |
| \`["property", "name"]\`; also \`prop\`, \`field\` | a field; \`["property", "address.city"]\` a key of a JSON field |
| \`["list", "a", "b"]\` | a list |
| \`["const", value]\`; also \`value\` | a literal value |

- Null equals null and nothing else. Other comparisons with null are false. A function of null gives null, but \`concat\` takes it as an
  empty text.
- A time is a number: milliseconds since the epoch, UTC.

The examples use this entity; those of \`aggr\` use it and two more, with age 20 and without age:

\`\`\`json
${JSON.stringify(ENTITY)}
\`\`\`
`;

/** The page docs/filter-functions.md. */
export function referencePage(): string {
  const sections = Object.entries(REFERENCE).map(([group, functions]) => {
    const rows = Object.entries(functions).map(([name, { takes, gives, text: meaning, example, value }]) => {
      const synonyms = synonymsOf(name as FunctionName).map(code);
      const call = code(`${name}(${takes})`);
      const names = synonyms.length === 0 ? call : `${call}; also ${synonyms.join(', ')}`;
      return `| ${names} | ${gives} | ${meaning} | ${code(JSON.stringify(example))} → ${code(JSON.stringify(value))} |`;
    });
    return [
      `## ${group}`,
      '',
      '| function | gives | meaning | example |',
      '| --- | --- | --- | --- |',
      ...rows,
      '',
    ].join('\n');
  });
  return [INTRODUCTION, ...sections].join('\n');
}

/** In a table, a bar ends a cell. */
function code(content: string): string {
  return `\`${content.replaceAll('|', '\\|')}\``;
}
