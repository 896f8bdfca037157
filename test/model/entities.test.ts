/** What every storage mode does alike, over both kinds of storage. */
import { expect } from 'chai';
import {
  BadParameterError,
  CannotApplyError,
  InvalidFieldError,
  ConflictError,
  type ModelCollection,
  NotFoundError,
} from '../../runtime/model/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from './support/model.ts';

const PROPERTIES = [
  { name: 'name', data_type: 'str', required: true, index: true },
  { name: 'code', data_type: 'string', unique: true },
  { name: 'active', data_type: 'bool', default: true },
  { name: 'age', data_type: 'int', index: true },
  { name: 'big', data_type: 'long' },
  { name: 'ratio', data_type: 'float' },
  { name: 'kind', data_type: 'enum', items: ['a', 'b'] },
  { name: 'any', data_type: 'any', merge_levels: 1 },
  { name: 'whole', data_type: 'any' },
  { name: 'tags', data_type: 'string', multi: true },
  { name: 'numbers', data_type: 'long', multi: true },
  { name: 'select', data_type: 'string' },
  { name: 'photo', data_type: 'attachment' },
];

for (const mode of ['category', 'ram', 'runtime', 'ets']) {
  describeStorages(`entities of a ${mode} class`, (newPlace) => {
    const storage = withStorage(newPlace);
    let test: TestModel;
    let people: ModelCollection;

    beforeEach(async () => {
      test = await emptyModel(storage());
      const opts = { lookup_properties: ['code', 'age'] };
      people = await test.collection({ classname: 'crm/people', storage_mode: mode, properties: PROPERTIES, opts });
    });
    afterEach(async () => {
      await test.model.close();
      await removeClasses(storage());
    });

    const ids = async (query: object): Promise<unknown> => {
      const answer = await people.list({ order: ['id'], ...query });
      return Array.isArray(answer) ? answer.map((each: { id?: unknown }) => each.id) : answer;
    };
    const fill = async (): Promise<void> => {
      await people.create({
        id: 'ann',
        name: 'Ann',
        code: 'A',
        age: 30,
        kind: 'a',
        tags: ['x', 'y'],
        any: { city: 'Oslo', n: 5 },
      });
      await people.create({
        id: 'bob',
        name: 'Bob_1',
        code: 'B',
        age: 40,
        kind: 'b',
        tags: ['y'],
        any: { city: 'Rome' },
      });
      await people.create({ id: 'cyd', name: 'Cyd', age: 40, active: false, ratio: 2.5, numbers: [1, 2] });
    };

    it('are created with defaults, and read back as given', async () => {
      const given = {
        name: 'Ann',
        big: 2 ** 53 - 1,
        ratio: 0.1,
        kind: 'b',
        any: { a: [1, null] },
        tags: ['"', '\\', '{}'],
        numbers: [],
      };
      const entity = await people.create(given);
      expect(entity.id).to.be.a('string').with.length.above(0);
      expect(entity).to.deep.equal({
        ...given,
        id: entity.id,
        code: null,
        active: true,
        age: null,
        whole: null,
        select: null,
        photo: null,
      });
      expect(await people.read(entity.id)).to.deep.equal(entity);
    });

    it('keep a given id, which is unique', async () => {
      await people.create({ id: 'x', name: 'X' });
      const error = await failure(people.create({ id: 'x', name: 'Y' }));
      expect(error).to.be.instanceOf(ConflictError).and.include({ field: 'id' });
      expect(await failure(people.update('x', { id: 'z' })))
        .to.be.instanceOf(InvalidFieldError)
        .and.include({ field: 'id' });
    });

    it('have unique values, which are released on removal', async () => {
      await fill();
      const taken = await failure(people.create({ name: 'D', code: 'A' }));
      expect(taken).to.be.instanceOf(ConflictError).and.include({ field: 'code' });
      expect(await failure(people.update('bob', { code: 'A' }))).to.be.instanceOf(ConflictError);
      await people.update('ann', { code: 'A2' });
      await people.update('bob', { code: 'A' });
      expect(await people.lookup({ code: 'A' })).to.deep.equal(['bob']);
    });

    const refused: readonly [string, Readonly<Record<string, unknown>>][] = [
      ['name', {}],
      ['nome', { name: 'x', nome: 1 }],
      ['name', { name: 1 }],
      ['name', { name: 'a\0b' }],
      ['name', { name: '\ud800' }],
      ['age', { name: 'x', age: 2 ** 31 }],
      ['age', { name: 'x', age: '5' }],
      ['big', { name: 'x', big: 2 ** 53 }],
      ['ratio', { name: 'x', ratio: Number.NaN }],
      ['kind', { name: 'x', kind: 'c' }],
      ['active', { name: 'x', active: 1 }],
      ['tags', { name: 'x', tags: 'y' }],
      ['tags.1', { name: 'x', tags: ['y', 2] }],
      ['any', { name: 'x', any: { a: ['\0'] } }],
      ['photo', { name: 'x', photo: { link: 'fs:///etc/passwd' } }],
      ['id', { id: 'a/b', name: 'x' }],
    ];
    for (const [field, input] of refused) {
      it(`are refused for ${field}: ${JSON.stringify(input)}`, async () => {
        const error = await failure(people.create(input));
        expect(error).to.be.instanceOf(InvalidFieldError).and.include({ field });
        expect(await people.list({ countonly: true })).to.deep.equal({ count: 0 });
      });
    }

    it('are replaced as a whole, or created with that id, by PUT', async () => {
      await fill();
      const replaced = await people.replace('ann', { name: 'Anna' });
      expect(replaced).to.include({ id: 'ann', name: 'Anna', code: null, age: null, active: true });
      expect(replaced['tags']).to.equal(null);
      expect(await people.replace('new', { name: 'New' })).to.include({ id: 'new', name: 'New' });
      expect(await people.list({ countonly: true })).to.deep.equal({ count: 4 });
    });

    it('are changed by PATCH: null clears, any values are merged, multi values appended', async () => {
      await people.create({
        id: 'x',
        name: 'X',
        age: 1,
        tags: ['a'],
        any: { a: { b: 1 }, c: 2 },
        whole: { a: 1, b: 2 },
      });
      const after = await people.update(
        'x',
        { age: null, tags: ['b'], any: { a: { d: 3 }, c: null, e: 4 }, whole: { b: 3 } },
        { append: true },
      );
      expect(after).to.deep.include({
        name: 'X',
        age: null,
        tags: ['a', 'b'],
        any: { a: { d: 3 }, e: 4 },
        whole: { b: 3 },
      });
      expect(await people.update('x', { tags: ['c'] })).to.deep.include({ tags: ['c'], any: { a: { d: 3 }, e: 4 } });
      expect(await failure(people.update('x', { name: null })))
        .to.be.instanceOf(InvalidFieldError)
        .and.include({ field: 'name' });
      expect(await failure(people.update('nobody', { age: 1 }))).to.be.instanceOf(NotFoundError);
    });

    it('accept attachments from the file store only', async () => {
      await people.create({ id: 'x', name: 'X' });
      const photo = { name: 'content', size: 3, hasha: 'sha256;AB', link: 'fs://x', mtime: '2026-11-21T00:00:00Z' };
      await people.update('x', { photo }, { attachments: true });
      expect(await people.replace('x', { name: 'Y', photo })).to.deep.include({ name: 'Y', photo });
      expect(await people.replace('x', { name: 'Z' })).to.deep.include({ photo });
      expect(await people.update('x', { photo: null })).to.include({ photo: null });
    });

    it('are deleted, singly or all', async () => {
      await fill();
      await people.remove('ann');
      expect(await failure(people.read('ann'))).to.be.instanceOf(NotFoundError);
      expect(await failure(people.remove('ann'))).to.be.instanceOf(NotFoundError);
      await people.clear();
      expect(await people.list({})).to.deep.equal([]);
    });

    it('are found by keys', async () => {
      await fill();
      expect(await people.lookup({ age: 40 })).to.deep.equal(['bob', 'cyd']);
      expect(await people.lookup({ age: 40, code: 'B' })).to.deep.equal(['bob']);
      expect(await people.lookup({ id: 'cyd' })).to.deep.equal(['cyd']);
      expect(await failure(people.lookup({ age: 41 }))).to.be.instanceOf(NotFoundError);
      expect(await failure(people.lookup({ name: 'Ann' })))
        .to.be.instanceOf(BadParameterError)
        .and.include({ field: 'name' });
      expect(await failure(people.lookup({}))).to.be.instanceOf(BadParameterError);
    });

    const filters: readonly [unknown, readonly string[]][] = [
      [
        ['=', ['property', 'age'], 40],
        ['bob', 'cyd'],
      ],
      [['and', ['>', ['prop', 'age'], 30], ['prop', 'active']], ['bob']],
      [
        ['not', ['=', ['prop', 'code'], 'A']],
        ['bob', 'cyd'],
      ],
      [['=', ['prop', 'any.city'], 'Oslo'], ['ann']],
      [
        ['in', ['prop', 'code'], ['list', 'A', 'B']],
        ['ann', 'bob'],
      ],
      [['contains_all', ['prop', 'tags'], ['list', 'x', 'y']], ['ann']],
      [
        ['regexp', ['prop', 'name'], '^[AB]'],
        ['ann', 'bob'],
      ],
      [['is_null', ['prop', 'code']], ['cyd']],
      [{ name: 'Ann|C%' }, ['ann', 'cyd']],
      [{ name: '%_1' }, ['bob']],
      [{ name: '/reg/i/^B' }, ['bob']],
      [{ age: '~35;50~' }, ['ann']],
      [{ age: '40', active: 'FALSE' }, ['cyd']],
      [{ tags: ['y'] }, ['ann', 'bob']],
      [{ any: { city: 'R%' } }, ['bob']],
      [{ 'any.n': '4~6' }, ['ann']],
      [{ code: null }, ['cyd']],
      [{}, ['ann', 'bob', 'cyd']],
    ];
    for (const [filter, expected] of filters) {
      it(`are filtered by ${JSON.stringify(filter)}`, async () => {
        await fill();
        expect(await ids({ filter })).to.deep.equal(expected);
        expect(await people.list({ filter, limit: 0 })).to.deep.equal({ count: expected.length });
      });
    }

    it('are ordered, paged, masked and flat', async () => {
      await fill();
      expect(await ids({ order: [{ age: 'desc' }, 'name'] })).to.deep.equal(['bob', 'cyd', 'ann']);
      expect(await ids({ order: ['code'] })).to.deep.equal(['ann', 'bob', 'cyd']);
      expect(await ids({ order: [['desc', ['property', 'code']]] })).to.deep.equal(['cyd', 'bob', 'ann']);
      expect(await ids({ order: [['asc', ['length', ['prop', 'name']]]], offset: 1, limit: 1 })).to.deep.equal(['cyd']);
      expect(await people.list({ order: ['id'], mask: 'id,any.city', flat: true, limit: 2 })).to.deep.equal([
        { id: 'ann', 'any.city': 'Oslo' },
        { id: 'bob', 'any.city': 'Rome' },
      ]);
      expect(await people.read('ann', { mask: 'any' })).to.deep.equal({ any: { city: 'Oslo', n: 5 } });
    });

    it('are grouped', async () => {
      await fill();
      const aggr = {
        n: ['count'],
        sum: ['sum', ['prop', 'age']],
        top: ['max', ['prop', 'name']],
        twice: ['*', 2, ['count']],
      };
      expect(await people.list({ aggr, groupby: { years: 'age' }, order: [{ years: 'desc' }] })).to.deep.equal([
        { years: 40, n: 2, sum: 80, top: 'Cyd', twice: 4 },
        { years: 30, n: 1, sum: 30, top: 'Ann', twice: 2 },
      ]);
      expect(await people.list({ aggr: { n: ['count_distinct', ['prop', 'kind']] } })).to.deep.equal([{ n: 2 }]);
      const byLetter = { letter: ['substr', ['prop', 'name'], 0, 1] };
      expect(await people.list({ groupby: byLetter, filter: { age: '40' } })).to.deep.equal([
        { letter: 'B' },
        { letter: 'C' },
      ]);
      expect(await people.list({ aggr: { n: ['count'] }, groupby: { a: 'age' }, countonly: true })).to.deep.equal({
        count: 2,
      });
    });

    it('are limited by max_limit and max_mask', async () => {
      await fill();
      const { id } = people.definition;
      await test.model.classes(DOMAIN).update(id, { opts: { max_limit: 2, max_mask: 'id,name' } });
      expect(await people.list({ order: ['id'], limit: 50 })).to.deep.equal([
        { id: 'ann', name: 'Ann' },
        { id: 'bob', name: 'Bob_1' },
      ]);
      expect(await people.list({ mask: 'id,age', limit: 1, order: ['id'] })).to.deep.equal([{ id: 'ann' }]);
    });

    it('notify of their changes, unless suspended', async () => {
      await people.create({ id: 'x', name: 'X' });
      await people.update('x', { age: 1 });
      await people.setup({ cmd: 'suspend_notification' });
      await people.update('x', { age: 2 });
      expect(await people.setup({ cmd: 'resume_notification' })).to.deep.equal({ result: 'ok' });
      await people.remove('x');
      await people.clear();
      const told = test.changes.map(({ operation, id, before, after }) => [
        operation,
        id,
        before?.['age'],
        after?.['age'],
      ]);
      expect(told).to.deep.equal([
        ['create', 'x', undefined, null],
        ['update', 'x', null, 1],
        ['reload', undefined, undefined, undefined],
        ['delete', 'x', 2, undefined],
        ['clear', undefined, undefined, undefined],
      ]);
      expect(test.changes[0]).to.include({ domain: DOMAIN, classname: 'crm/people' });
    });

    it('refuse unknown commands, and those of other storage modes', async () => {
      expect(await failure(people.setup({ cmd: 'read_partitions' }))).to.be.instanceOf(CannotApplyError);
      expect(await failure(people.setup({ cmd: 'drop table' })))
        .to.be.instanceOf(BadParameterError)
        .and.include({ field: 'cmd' });
      expect(await people.setup({ cmd: 'optimize' })).to.deep.equal({ result: 'ok' });
    });

    it('are safe against SQL in names and values', async () => {
      const sql = `'; drop table model_classes; --`;
      await people.create({ id: sql, name: sql, select: `") union select 1 --` });
      expect(await ids({ filter: ['=', ['prop', 'name'], sql] })).to.deep.equal([sql]);
      expect(await people.list({ aggr: { [sql]: ['count'] }, groupby: { [`"${sql}`]: 'select' } })).to.have.length(1);
      expect(await failure(people.list({ filter: { [sql]: 1 } }))).to.be.instanceOf(BadParameterError);
      expect(await failure(people.list({ order: [sql] }))).to.be.instanceOf(BadParameterError);
    });
  });
}
