/** Class settings, `/domain/classes`: a collection like the others of the domain-center. */
import { Type } from 'typebox';
import { type Directory, referredFirst } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import {
  builtIn,
  builtInName,
  type ClassDefinition,
  fieldTypes,
  type Model,
  ModelError,
  NotFoundError,
  ofSeveral,
} from '../../runtime/model/index.ts';
import type { ResourceType } from '../collection/list.ts';
import type { Precondition } from '../collection/entity-tag.ts';
import type { Fields, Resource } from '../collection/resource.ts';
import { ofIndex } from '../collection/several.ts';
import { scopeOf } from '../domain-scope.ts';
import { badParameter, outOfReach, RestError } from '../errors.ts';

const Composite = Type.Object({}, { additionalProperties: true });

const Property = Type.Object({
  name: Type.String(),
  data_type: Type.Enum(['string', 'boolean', 'integer', 'long', 'float', 'enum', 'increment', 'any', 'attachment']),
  multi: Type.Boolean(),
  required: Type.Boolean(),
  default: Type.Optional(Type.Unknown()),
  items: Type.Array(Type.String(), { description: 'The values of an enum' }),
  index: Type.Unknown({ description: 'true, false, "wildcard", "list", or names of properties' }),
  unique: Type.Boolean(),
  merge_levels: Type.Integer({ description: 'Levels of an any that PATCH merges' }),
});

const ClassSettings = Type.Object({
  id: Type.String(),
  domain_id: Type.String(),
  classname: Type.String({ description: 'Path below /model/; may hold /' }),
  name: Type.String(),
  description: Type.String(),
  parent_id: Type.Union([Type.String(), Type.Null()]),
  storage_mode: Type.Enum(['category', 'history', 'transactionlog', 'ram', 'runtime', 'ets', 'abstract']),
  properties: Type.Array(Property),
  opts: Composite,
  ext: Composite,
});

const KEYS = ['id', 'classname', 'domain_id'];

export class ClassResource implements Resource {
  readonly entity = 'Class';
  readonly schema = ClassSettings;
  readonly type: ResourceType = {
    fields: Object.keys(ClassSettings.properties),
    aliases: {},
    types: fieldTypes(ClassSettings),
  };
  readonly #model: Model;
  readonly #directory: Pick<Directory, 'domain' | 'domains'>;

  constructor(model: Model, directory: Pick<Directory, 'domain' | 'domains'>) {
    this.#model = model;
    this.#directory = directory;
  }

  async list(session: Session): Promise<readonly ClassDefinition[]> {
    const visible = [...scopeOf(this.#directory, session).visible];
    return visible
      .flatMap((domain) => this.#model.classes(domain).list())
      .filter((each) => builtIn(each) === undefined)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async read(session: Session, id: string): Promise<ClassDefinition | undefined> {
    for (const domain of scopeOf(this.#directory, session).visible) {
      const found = this.#model.classes(domain).get(id);
      if (found !== undefined && builtIn(found) === undefined) return found;
    }
    return undefined;
  }

  async create(session: Session, { domain_id: given, ...fields }: Fields): Promise<ClassDefinition> {
    const { own, visible } = scopeOf(this.#directory, session);
    const domain = given === undefined ? own : given;
    if (typeof domain !== 'string') throw badParameter('domain_id', 'must be the id of a domain');
    if (!visible.has(domain)) throw outOfReach('domain_id');
    refuseBuiltInName(fields);
    return await this.#model.classes(domain).create(fields);
  }

  /** Creates one after the other, because each makes a table; a refused one removes those before it. */
  async createAll(session: Session, list: readonly Fields[]): Promise<readonly ClassDefinition[]> {
    const made = new Map<number, ClassDefinition>();
    try {
      for (const index of referredFirst(list, 'parent_id'))
        made.set(index, await ofIndex(index, () => ofSeveral(index, () => this.create(session, list[index] ?? {}))));
    } catch (error) {
      for (const each of [...made.values()].toReversed()) await this.remove(session, each.id);
      throw error;
    }
    return list.flatMap((_fields, index) => made.get(index) ?? []);
  }

  async update(session: Session, id: string, fields: Fields, precondition?: Precondition): Promise<ClassDefinition> {
    const { domain_id: domain, classname } = await this.#existing(session, id);
    if (fields['classname'] !== classname) refuseBuiltInName(fields);
    return await this.#model.classes(domain).update(id, fields, precondition);
  }

  async remove(session: Session, id: string, precondition?: Precondition): Promise<void> {
    const existing = await this.#existing(session, id);
    precondition?.(existing);
    const { domain_id: domain } = existing;
    try {
      await this.#model.classes(domain).remove(id);
    } catch (error) {
      // Same error as for other referenced entities.
      if (!(error instanceof ModelError) || error instanceof NotFoundError) throw error;
      throw new RestError('CONFLICT', { field: error.field, reason: error.message }, {}, { cause: error });
    }
  }

  async lookup(session: Session, keys: Fields): Promise<readonly string[]> {
    const wrong = Object.entries(keys).find(([key, value]) => !KEYS.includes(key) || typeof value !== 'string');
    if (wrong !== undefined) throw badParameter(wrong[0], `is no key; look up by ${KEYS.join(', ')}, each a text`);
    const { id, classname } = keys;
    if (id === undefined && classname === undefined) throw badParameter('id, classname', 'one of them is needed');
    // Class names are unique within a domain; the default is the session's own.
    const domain = keys['domain_id'] ?? (id === undefined ? scopeOf(this.#directory, session).own : undefined);
    return (await this.list(session))
      .filter((each) => domain === undefined || each.domain_id === domain)
      .filter((each) => (id ?? each.id) === each.id && (classname ?? each.classname) === each.classname)
      .map((each) => each.id);
  }

  importable(entity: object): object {
    const { ext, ...rest } = entity as { ext?: Fields };
    const { ct: _created, lwt: _changed, ...own } = ext ?? {};
    return { ...rest, ext: own };
  }

  async #existing(session: Session, id: string): Promise<ClassDefinition> {
    const found = await this.read(session, id);
    if (found === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: this.entity });
    return found;
  }
}

/** @throws RestError 422/1405 for the name of a built-in class */
function refuseBuiltInName({ classname }: Fields): void {
  const found = builtInName(classname);
  if (found === undefined) return;
  throw new RestError('CANNOT_APPLY', { field: 'classname', reason: `is the name of ${found.what}; choose another` });
}
