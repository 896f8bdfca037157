import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ENTITIES, ENTITY, NOW, REFERENCE, referencePage } from '../../../runtime/model/filter/docs/reference.ts';
import { FUNCTION_NAMES, functionNamed, isAggregate } from '../../../runtime/model/filter/functions.ts';
import {
  ExpressionParser,
  Grouper,
  parseGrouping,
  toFunction,
  type ValueType,
} from '../../../runtime/model/filter/index.ts';

const fields = new Map<string, ValueType>([
  ['id', 'text'],
  ['name', 'text'],
  ['age', 'number'],
  ['vip', 'boolean'],
  ['note', 'text'],
  ['tags', 'text[]'],
  ['address', 'json'],
  ['at', 'number'],
]);

describe('the reference of filter functions', () => {
  it('has every function once', () => {
    const names = Object.values(REFERENCE).flatMap((functions) => Object.keys(functions));
    expect(names.toSorted()).to.deep.equal([...FUNCTION_NAMES].toSorted());
  });

  it('is what docs/filter-functions.md holds (else: npx node runtime/model/filter/docs/write.ts)', async () => {
    const page = await readFile(new URL('../../../docs/filter-functions.md', import.meta.url), 'utf8');
    expect(page).to.equal(referencePage());
  });

  for (const [name, { example, value }] of Object.values(REFERENCE).flatMap((functions) => Object.entries(functions))) {
    it(`${name} returns the result of its example`, () => {
      const parser = new ExpressionParser({ fields, now: NOW });
      const known = functionNamed(name);
      if (known !== undefined && isAggregate(known)) {
        const grouping = parseGrouping(parser, { result: example }, undefined);
        if (grouping === undefined) throw new Error('an aggregate groups');
        const grouper = new Grouper(grouping);
        for (const entity of ENTITIES) grouper.add(entity);
        expect(grouper.rows()).to.deep.equal([{ result: value }]);
      } else {
        expect(toFunction(parser.parse(example, 'example'))(ENTITY)).to.deep.equal(value);
      }
    });
  }
});
