import { expect } from 'chai';
import {
  CannotApplyError,
  ConflictError,
  InvalidFieldError,
  NotFoundError,
  openModel,
} from '../../runtime/model/index.ts';
import { describeStorages, failure, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, NO_FILES, removeClasses, type TestModel } from './support/model.ts';

describeStorages('classes', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;

  beforeEach(async () => {
    test = await emptyModel(storage());
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  const classes = () => test.model.classes(DOMAIN);

  it('are created with every setting filled in', async () => {
    const created = await classes().create({
      classname: 'a/b',
      storage_mode: 'category',
      properties: [{ name: 'x', data_type: 'int' }],
    });
    const time = new Date(test.time).toISOString();
    expect(created).to.deep.include({
      domain_id: DOMAIN,
      classname: 'a/b',
      parent_id: null,
      ext: { ct: time, lwt: time },
      properties: [
        {
          name: 'x',
          data_type: 'integer',
          multi: false,
          required: false,
          items: [],
          index: false,
          unique: false,
          merge_levels: 0,
        },
      ],
    });
    expect(created.opts).to.include({ max_limit: 1000, put_preread: true, notify: true, expires_mode: 'none' });
    expect(classes().get(created.id)).to.deep.equal(created);
    expect(classes().list()).to.deep.equal([created]);
  });

  const valid = { classname: 'c', storage_mode: 'category' };
  const property = (given: object): object => ({
    ...valid,
    properties: [{ name: 'p', data_type: 'string', ...given }],
  });
  const refused: readonly [string, object][] = [
    ['classname', { storage_mode: 'category' }],
    ['classname', { ...valid, classname: '../x' }],
    ['classname', { ...valid, classname: 'a//b' }],
    ['storage_mode', { classname: 'c' }],
    ['storage_mode', { ...valid, storage_mode: 'disk' }],
    ['parent_id', { ...valid, parent_id: 'nobody' }],
    ['colour', { ...valid, colour: 'red' }],
    ['properties', { ...valid, properties: {} }],
    ['properties.0.name', { ...valid, properties: [{ data_type: 'string' }] }],
    ['properties.0.name', property({ name: 'a.b' })],
    ['properties.0.name', property({ name: 'id' })],
    ['properties.0.name', property({ name: '__proto__' })],
    ['properties.0.data_type', property({ data_type: 'text' })],
    ['properties.0.colour', property({ colour: 1 })],
    ['properties.0.items', property({ data_type: 'enum' })],
    ['properties.0.items', property({ data_type: 'enum', items: ['a', 'a'] })],
    ['properties.0.default', property({ default: 5 })],
    ['properties.0.default', property({ data_type: 'enum', items: ['a'], default: 'b' })],
    ['properties.0.unique', property({ multi: true, unique: true })],
    ['properties.0.index', property({ index: 'fast' })],
    ['properties.p.index', property({ index: ['q'] })],
    ['properties.0.merge_levels', property({ merge_levels: 1 })],
    [
      'properties',
      {
        ...valid,
        properties: [
          { name: 'a', data_type: 'int' },
          { name: 'a', data_type: 'int' },
        ],
      },
    ],
    ['properties.p.unique', { ...property({ unique: true }), storage_mode: 'history' }],
    ['opts.max_limit', { ...valid, opts: { max_limit: 0 } }],
    ['opts.colour', { ...valid, opts: { colour: 0 } }],
    ['opts.max_mask', { ...valid, opts: { max_mask: 'id,nothing' } }],
    ['opts.lookup_properties.0', { ...valid, opts: { lookup_properties: ['nothing'] } }],
    [
      'opts.partition_property',
      { ...property({ name: 't' }), storage_mode: 'history', opts: { partition_property: 't' } },
    ],
    ['opts.expires_mode', { ...valid, opts: { expires_mode: 'create' } }],
    ['opts.expires_ttl', { ...valid, storage_mode: 'runtime', opts: { expires_mode: 'create' } }],
  ];
  for (const [field, settings] of refused) {
    it(`are refused for ${field}: ${JSON.stringify(settings)}`, async () => {
      const error = await failure(classes().create(settings as Record<string, unknown>));
      expect(error).to.be.instanceOf(InvalidFieldError);
      expect(error).to.include({ field });
      expect(classes().list()).to.deep.equal([]);
    });
  }

  it('have unique names within a domain, and are unknown in others', async () => {
    const { id } = await classes().create(valid);
    expect(await failure(classes().create(valid)))
      .to.be.instanceOf(ConflictError)
      .and.include({ field: 'classname' });
    await test.model.classes('d2').create(valid);
    expect(test.model.classes('d2').get(id)).to.equal(undefined);
    expect(await failure(test.model.classes('d2').remove(id))).to.be.instanceOf(NotFoundError);
    expect(() => test.model.collection('d3', 'c')).to.throw(NotFoundError);
  });

  it('are children of paths', async () => {
    for (const classname of ['a/b', 'a/c/d', 'a/c', 'e']) await classes().create({ ...valid, classname });
    expect(test.model.children(DOMAIN, '')).to.deep.equal(['a', 'e']);
    expect(test.model.children(DOMAIN, 'a')).to.deep.equal(['b', 'c']);
  });

  it('inherit properties, and follow changes of their ancestors', async () => {
    const base = await classes().create({
      classname: 'base',
      storage_mode: 'abstract',
      properties: [{ name: 'a', data_type: 'int', default: 1 }],
    });
    const heir = await test.collection({
      classname: 'heir',
      parent_id: base.id,
      properties: [{ name: 'b', data_type: 'int' }],
    });
    expect(await heir.create({ id: 'x', b: 2 })).to.deep.equal({ id: 'x', a: 1, b: 2 });
    await classes().update(base.id, { properties: [{ name: 'c', data_type: 'string', default: 'new' }] });
    expect(await heir.read('x')).to.deep.equal({ id: 'x', c: 'new', b: 2 });
    expect(() => test.model.collection(DOMAIN, 'base')).to.throw(NotFoundError);
    expect(await failure(classes().remove(base.id))).to.be.instanceOf(CannotApplyError);
    expect(await failure(classes().update(base.id, { parent_id: heir.definition.id }))).to.include({
      field: 'parent_id',
    });
  });

  it('convert their data on a change, or refuse it', async () => {
    const things = await test.collection({
      classname: 'things',
      properties: [
        { name: 'n', data_type: 'int', index: true },
        { name: 's', data_type: 'string' },
        { name: 'gone', data_type: 'string' },
      ],
    });
    await things.create({ id: 'x', n: 7, s: '12', gone: '!' });
    await things.create({ id: 'y', n: 8, s: 'text', gone: '!' });
    const { id } = things.definition;
    const change = (properties: readonly object[]): Promise<unknown> => classes().update(id, { properties });
    const toInteger = await failure(
      change([
        { name: 'n', data_type: 'int' },
        { name: 's', data_type: 'int' },
      ]),
    );
    expect(toInteger).to.be.instanceOf(CannotApplyError).and.include({ field: 'properties.s.data_type' });
    expect(await things.read('x')).to.include({ n: 7, s: '12', gone: '!' });
    await change([
      { name: 's', data_type: 'string', multi: true, index: 'list' },
      { name: 'n', data_type: 'string', unique: true },
      { name: 'more', data_type: 'float', required: true, default: 0.5 },
    ]);
    expect(await things.read('x')).to.deep.equal({ id: 'x', s: ['12'], n: '7', more: 0.5 });
    expect(await failure(things.create({ n: '7' })))
      .to.be.instanceOf(ConflictError)
      .and.include({ field: 'n' });
    // A name that comes back does not bring old values.
    await change([{ name: 'gone', data_type: 'string' }]);
    expect(await things.list({ order: ['id'] })).to.deep.equal([
      { id: 'x', gone: null },
      { id: 'y', gone: null },
    ]);
  });

  it('convert values to the new type, or refuse the change', async () => {
    for (const [n, [from, value, to, expected]] of (
      [
        ['string', '1', 'any[]', ['1']],
        ['any', { a: 1 }, 'any[]', [{ a: 1 }]],
        ['any', [1, 2], 'any[]', [1, 2]],
        ['any', null, 'any[]', null],
        ['integer', 7, 'any[]', [7]],
        ['integer', 7, 'float[]', [7]],
        ['string', '-2e3', 'float', -2000],
        ['string[]', ['1', '2'], 'integer[]', [1, 2]],
        ['string', 'NaN', 'float', undefined],
        ['string', '-Infinity', 'float[]', undefined],
        ['string[]', ['1', 'nan'], 'float[]', undefined],
        ['string[]', ['99999999999'], 'integer[]', undefined],
        ['string', '99999999999', 'integer', undefined],
        ['string', '9007199254740992', 'long', undefined],
        ['string[]', ['-9007199254740993'], 'long[]', undefined],
      ] as const
    ).entries()) {
      const typed = (type: string) => ({
        properties: [{ name: 'v', data_type: type.replace('[]', ''), multi: type.endsWith('[]') }],
      });
      const things = await test.collection({ classname: `converted${n}`, ...typed(from) });
      await things.create({ id: 'x', v: value });
      const changed = classes().update(things.definition.id, typed(to));
      if (expected === undefined) {
        expect(await failure(changed), `${from} ${to}`).to.include({ field: 'properties.v.data_type' });
        expect(await things.read('x')).to.deep.equal({ id: 'x', v: value });
      } else {
        await changed;
        expect(await things.read('x'), `${from} ${to}`).to.deep.equal({ id: 'x', v: expected });
      }
    }
  });

  it('refuse rules that their data violate', async () => {
    const things = await test.collection({
      classname: 'things',
      properties: [
        { name: 's', data_type: 'string' },
        { name: 'o', data_type: 'string' },
      ],
    });
    await things.create({ s: 'a' });
    await things.create({ s: 'a' });
    const change = (given: object): Promise<Error> =>
      failure(
        classes().update(things.definition.id, {
          properties: [
            { name: 's', data_type: 'string', ...given },
            { name: 'o', data_type: 'string' },
          ],
        }),
      );
    expect(await change({ unique: true })).to.include({ field: 'properties.s.unique' });
    expect(await change({ data_type: 'enum', items: ['b'] })).to.include({ field: 'properties.s.items' });
    const required = {
      properties: [
        { name: 's', data_type: 'string' },
        { name: 'o', data_type: 'string', required: true },
      ],
    };
    expect(await failure(classes().update(things.definition.id, required))).to.include({
      field: 'properties.o.required',
    });
    expect(await failure(classes().update(things.definition.id, { storage_mode: 'ram' }))).to.include({
      field: 'storage_mode',
    });
    expect(await failure(classes().update(things.definition.id, { id: 'other' }))).to.include({ field: 'id' });
  });

  it('convert entities in memory on a change', async () => {
    const things = await test.collection({
      classname: 'things',
      storage_mode: 'ram',
      properties: [
        { name: 'a', data_type: 'int' },
        { name: 'b', data_type: 'int' },
      ],
    });
    await things.create({ id: 'x', a: 1, b: 2 });
    await classes().update(things.definition.id, {
      properties: [
        { name: 'a', data_type: 'long' },
        { name: 'c', data_type: 'string', default: 'd' },
      ],
    });
    expect(await things.read('x')).to.deep.equal({ id: 'x', a: 1, c: 'd' });
    const unfit = { properties: [{ name: 'a', data_type: 'string' }] };
    expect(await failure(classes().update(things.definition.id, unfit))).to.be.instanceOf(CannotApplyError);
    expect(await things.read('x')).to.deep.equal({ id: 'x', a: 1, c: 'd' });
  });

  it('survive a restart with their data, and lose them when removed', async () => {
    const things = await test.collection({
      classname: 'things',
      properties: [
        { name: 'n', data_type: 'increment' },
        { name: 's', data_type: 'string' },
      ],
    });
    await things.create({ id: 'x', s: 'kept' });
    expect(await things.create({ id: 'y' })).to.include({ n: 2 });
    expect(await failure(things.create({ n: 9 })))
      .to.be.instanceOf(InvalidFieldError)
      .and.include({ field: 'n' });
    const again = await openModel(storage(), { files: NO_FILES });
    expect(await again.collection(DOMAIN, 'things').read('x')).to.deep.equal({ id: 'x', n: 1, s: 'kept' });
    await again.classes(DOMAIN).remove(things.definition.id);
    expect(() => again.collection(DOMAIN, 'things')).to.throw(NotFoundError);
    await again.close();
    const next = await openModel(storage(), { files: NO_FILES });
    expect(next.classes(DOMAIN).list()).to.deep.equal([]);
    await next.close();
  });

  it('accept null for the parent only, so that no setting is reset by mistake', async () => {
    const created = await classes().create({ ...valid, properties: [{ name: 'p', data_type: 'string' }] });
    for (const name of ['properties', 'opts', 'ext', 'name', 'description', 'classname', 'storage_mode']) {
      const given = { [name]: null };
      for (const write of [
        classes().update(created.id, given),
        classes().create({ ...valid, classname: 'other', ...given }),
      ]) {
        const error = await failure(write);
        expect(error, name).to.be.instanceOf(InvalidFieldError);
        expect(error, name).to.have.property('field', name);
      }
    }
    for (const given of [{ id: null }, { ext: 5 }, { ext: ['x'] }])
      expect(await failure(classes().create({ ...valid, classname: 'other', ...given }))).to.be.instanceOf(
        InvalidFieldError,
      );
    expect(classes().list()).to.deep.equal([created]);
  });

  it('merge opts and ext by first-level keys', async () => {
    const { id, ext } = await classes().create({ ...valid, opts: { max_limit: 5 }, ext: { a: 1, b: 2 } });
    test.time += 1000;
    const after = await classes().update(id, { opts: { notify: false }, ext: { a: null } });
    expect(after.opts).to.include({ max_limit: 5, notify: false });
    expect(after.ext).to.deep.equal({ b: 2, ct: ext['ct'], lwt: new Date(test.time).toISOString() });
  });
});
