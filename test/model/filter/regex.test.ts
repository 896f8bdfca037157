import { expect } from 'chai';
import { sql } from 'kysely';
import { compileLike, parseLike } from '../../../runtime/model/filter/like.ts';
import { compileRegex } from '../../../runtime/model/filter/regex/automaton.ts';
import { parseRegex, RegexSyntaxError } from '../../../runtime/model/filter/regex/parse.ts';
import { printRegex } from '../../../runtime/model/filter/regex/print.ts';
import { describeStorages, withStorage } from '../../storage/support/storages.ts';
import { Random } from '../support/random.ts';

const ATOMS = [
  'a',
  'b',
  'é',
  '.',
  '\\d',
  '\\w',
  '[ab]',
  '[^a]',
  '[a-c\\d]',
  '\\.',
  '(a|b)',
  '(?:ab)',
  '(|a)',
  '\\b',
  '^',
  '$',
  '-',
  ' ',
];
const TEXTS = [
  '',
  'a',
  'ab',
  'ba',
  'aab',
  'abc',
  'a1',
  'é',
  'aé b',
  '.',
  'a.b',
  ' a',
  'b-a',
  'AB',
  'É',
  '1',
  'bb aa',
  '😀a',
];

function pattern(random: Random): string {
  return Array.from({ length: 1 + random.below(4) }, () => {
    const atom = random.pick(ATOMS);
    const isAnchor = ['\\b', '^', '$'].includes(atom);
    return atom + (isAnchor ? '' : random.pick(['', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?']));
  }).join(random.pick(['', '', '|']));
}

const milliseconds = (run: () => void): number => {
  const started = performance.now();
  run();
  return performance.now() - started;
};

describe('regular expressions', () => {
  it('match like those of JavaScript', () => {
    const random = new Random(7);
    for (let round = 0; round < 3000; round += 1) {
      const source = pattern(random);
      // The dot is any character, as in PostgreSQL.
      const expected = new RegExp(source, 'us');
      const test = compileRegex(parseRegex(source, false));
      for (const text of TEXTS) expect(test(text), `${source} on ${text}`).to.equal(expected.test(text));
    }
  });

  const refused = [
    '(a)\\1',
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '(?<n>a)',
    '\\p{L}',
    '[[:alpha:]]',
    'a**',
    '*',
    '(',
    ')',
    '[',
    '[]',
    'a{2,1}',
    'a{256}',
    'a{',
    '^*',
    '\\',
    '\\q',
    '[b-a]',
    '[a-\\d]',
    '((a{99}){99}){99}',
  ];
  for (const source of refused) {
    it(`refuse ${source}`, () => {
      expect(() => parseRegex(source, false)).to.throw(RegexSyntaxError);
    });
  }

  const bombs: readonly [string, string][] = [
    ['(a+)+$', `${'a'.repeat(20_000)}!`],
    ['(a|a)*b', 'a'.repeat(20_000)],
    ['(a|aa)+$', `${'a'.repeat(20_000)}!`],
    ['(.*)*x', 'a'.repeat(20_000)],
    ['.*.*.*.*.*.*x', 'a'.repeat(20_000)],
    ['(a?){100}a{100}', 'a'.repeat(99)],
    ['(a|b)*a(a|b){9}', 'ab'.repeat(10_000)],
  ];
  for (const [source, text] of bombs) {
    it(`match ${source} in linear time`, () => {
      const test = compileRegex(parseRegex(source, false));
      expect(milliseconds(() => test(text))).to.be.below(500);
    });
  }

  it('like is not delayed by many wildcards', () => {
    const test = compileLike(parseLike(`${'%a'.repeat(127)}%b`) ?? [], false);
    expect(milliseconds(() => test('a'.repeat(20_000)))).to.be.below(1000);
  });
});

describeStorages('regular expressions', (newPlace) => {
  const storage = withStorage(newPlace);

  it('match in PostgreSQL like in memory', async () => {
    const random = new Random(11);
    for (let round = 0; round < 300; round += 1) {
      const source = pattern(random);
      const ignoreCase = random.chance(0.5);
      const regex = parseRegex(source, ignoreCase);
      const test = compileRegex(regex);
      const { rows } = await sql<{ text: string }>`
        select text from unnest(${TEXTS}::text[]) as t (text)
        where text ~ (${printRegex(regex)}::text collate "C")`.execute(storage().db);
      expect(
        rows.map(({ text }) => text),
        `${source} as ${printRegex(regex)}`,
      ).to.deep.equal(TEXTS.filter(test));
    }
  });

  it('match in PostgreSQL without delay, too', async () => {
    const text = `${'a'.repeat(2000)}!`;
    for (const source of ['(a+)+$', '(a|aa)+$', '(a?){100}a{100}', '.*.*.*.*x', '(a|b)*a(a|b){9}']) {
      const started = performance.now();
      await sql`select ${text}::text ~ (${printRegex(parseRegex(source, false))}::text collate "C")`.execute(
        storage().db,
      );
      expect(performance.now() - started, source).to.be.below(1000);
    }
  });
});
