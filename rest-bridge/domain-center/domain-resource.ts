/** Collections of the domain-center as resources. */
import { type TProperties, Type } from 'typebox';
import type { Collection, Directory, Row, WriteOptions } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { Precondition } from '../collection/entity-tag.ts';
import type { ResourceType } from '../collection/list.ts';
import type { Fields, Resource } from '../collection/resource.ts';
import { ofIndex } from '../collection/several.ts';
import { type DomainScope, scopeOf } from '../domain-scope.ts';
import { badParameter, outOfReach, RestError } from '../errors.ts';
import { asRestErrors } from './entity-errors.ts';

/** Additions of the REST service to a domain-center collection. */
export interface DomainResourceRules<Entity extends Row> {
  readonly entity: string;
  /** Keys that LOOKUP takes beside `id`: unique within a domain. */
  readonly keys: readonly string[];
  /** Fields left out of an export, beside the generated ones. */
  readonly notExported?: readonly string[];
  /** The field with the domain of an entity; default `domain_id`. */
  readonly domainField?: string;
  /** The resource has entities from outside the collection, so lists are filtered in memory. */
  readonly inMemory?: boolean;
  /** Fields that are not stored: what this node knows of an entity now. Lists are filtered in memory. */
  readonly live?: { readonly fields: TProperties; of(entity: Entity): object };
  /** Completes a new entity; default: `domain_id` is the session's domain. */
  complete?(fields: Fields, scope: DomainScope): Fields;
  /**
   * Refuses changes beyond the session's domains, before anything is written.
   *
   * @param before undefined on create
   * @throws RestError
   */
  check?(change: { fields: Fields; before: Entity | undefined; scope: DomainScope; session: Session }): Promise<void>;
  /** Follow-up work of a written change. */
  changed?(change: { fields: Fields; after: Entity; session: Session }): Promise<void>;
}

type Domains = Pick<Directory, 'domain' | 'domains'>;

/** A domain-center collection, limited to the domains that a session administers. */
export class DomainResource<Entity extends Row> implements Resource {
  readonly entity: string;
  readonly type: ResourceType;
  readonly schema: Resource['schema'];
  readonly #collection: Collection<Entity>;
  readonly #directory: Domains;
  readonly #rules: DomainResourceRules<Entity>;
  readonly #notExported: ReadonlySet<string>;
  readonly #domainField: string;
  readonly store?: NonNullable<Resource['store']>;
  readonly live: readonly string[];

  constructor(collection: Collection<Entity>, directory: Domains, rules: DomainResourceRules<Entity>) {
    const { schema, writeOnly, readOnly = {} } = collection.definition;
    const live = rules.live?.fields ?? {};
    this.live = Object.keys(live);
    const properties = Object.entries({ ...schema.properties, ...readOnly, ...live }).filter(
      ([name]) => !writeOnly.includes(name),
    );
    this.#notExported = new Set([...Object.keys(readOnly), ...this.live, ...(rules.notExported ?? [])]);
    this.entity = rules.entity;
    this.schema = Type.Object(Object.fromEntries(properties));
    this.type = { fields: properties.map(([name]) => name), aliases: {}, types: fieldTypes(this.schema) };
    this.#collection = collection;
    this.#directory = directory;
    this.#rules = rules;
    this.#domainField = rules.domainField ?? 'domain_id';
    if (rules.inMemory || rules.live) return;
    this.store = {
      select: (session, selection) => collection.select({ ...selection, within: this.#within(session) }),
      count: (session, selection) => collection.count({ ...selection, within: this.#within(session) }),
    };
  }

  async list(session: Session): Promise<readonly Entity[]> {
    return this.#withLive(await this.#collection.select({ within: this.#within(session) }));
  }

  async read(session: Session, id: string): Promise<Entity | undefined> {
    const entity = await this.#stored(session, id);
    return entity && this.#alsoLive(entity);
  }

  async #stored(session: Session, id: string): Promise<Entity | undefined> {
    const entity = isId(id) ? await this.#collection.get(id) : undefined;
    return entity !== undefined && this.#scope(session).visible.has(this.#domainOf(entity)) ? entity : undefined;
  }

  async create(session: Session, given: Fields, options?: WriteOptions): Promise<Entity> {
    const scope = this.#scope(session);
    const fields = this.#rules.complete?.(given, scope) ?? { domain_id: scope.own, ...given };
    await this.#check(session, scope, fields, undefined);
    return this.#alsoLive(await asRestErrors(this.entity, () => this.#collection.create(fields, options)));
  }

  async createAll(session: Session, list: readonly Fields[], options?: WriteOptions): Promise<readonly Entity[]> {
    const scope = this.#scope(session);
    const all = list.map((given) => this.#rules.complete?.(given, scope) ?? { domain_id: scope.own, ...given });
    for (const [index, fields] of all.entries())
      await ofIndex(index, () => this.#check(session, scope, fields, undefined));
    return this.#withLive(await asRestErrors(this.entity, () => this.#collection.createAll(all, options)));
  }

  async update(
    session: Session,
    id: string,
    fields: Fields,
    precondition?: Precondition,
    options?: WriteOptions,
  ): Promise<Entity> {
    const before = await this.#existing(session, id);
    await this.#check(session, this.#scope(session), fields, before);
    const check = this.#asShown(precondition);
    const after = await asRestErrors(this.entity, () => this.#collection.update(id, fields, check, options));
    if (options?.dryRun !== true) await this.#rules.changed?.({ fields, after, session });
    return this.#alsoLive(after);
  }

  async updateAll(session: Session, list: readonly Fields[], options?: WriteOptions): Promise<readonly Entity[]> {
    const changes = list.map((fields) => ({ id: String(fields['id']), fields }));
    for (const [index, { id, fields }] of changes.entries())
      await ofIndex(index, async () =>
        this.#check(session, this.#scope(session), fields, await this.#existing(session, id)),
      );
    const all = await asRestErrors(this.entity, () => this.#collection.updateAll(changes, options));
    for (const [index, after] of all.entries())
      if (options?.dryRun !== true) await this.#rules.changed?.({ fields: list[index] ?? {}, after, session });
    return this.#withLive(all);
  }

  async remove(session: Session, id: string, precondition?: Precondition): Promise<void> {
    const before = await this.#existing(session, id);
    await this.#check(session, this.#scope(session), {}, before);
    const check = this.#asShown(precondition);
    await asRestErrors(this.entity, () => this.#collection.remove(id, check));
  }

  #alsoLive(entity: Entity): Entity {
    const { live } = this.#rules;
    return live === undefined ? entity : { ...entity, ...live.of(entity) };
  }

  #withLive(entities: readonly Entity[]): readonly Entity[] {
    return this.live.length === 0 ? entities : entities.map((entity) => this.#alsoLive(entity));
  }

  #asShown(precondition: Precondition | undefined): ((before: Entity) => void) | undefined {
    return precondition && ((before) => precondition(this.shown(before)));
  }

  async lookup(session: Session, keys: Fields): Promise<readonly string[]> {
    const wanted = this.#wanted(keys);
    const scope = this.#scope(session);
    // Keys are unique within a domain; the default is the session's own.
    const domain = 'domain_id' in keys ? keys['domain_id'] : scope.own;
    const oneDomain = this.#domainField === 'domain_id' && wanted.every(([key]) => key !== 'id');
    const ids = [...scope.visible].filter((id) => !oneDomain || id === domain);
    const found = await this.#collection.select({
      within: { field: this.#domainField, ids },
      equal: Object.fromEntries(wanted),
    });
    return found.map(({ id }) => id);
  }

  /** The answered form of an entity, without its secret fields. */
  shown(entity: Entity): object {
    return Object.fromEntries(this.type.fields.flatMap((name) => (name in entity ? [[name, entity[name]]] : [])));
  }

  importable(entity: object): object {
    const { ext, ...rest } = entity as { ext?: Fields };
    const { ct: _created, lwt: _changed, ...own } = ext ?? {};
    const written = Object.entries(rest).filter(([name]) => !this.#notExported.has(name));
    return { ...Object.fromEntries(written), ext: own };
  }

  #scope(session: Session): DomainScope {
    return scopeOf(this.#directory, session);
  }

  #within(session: Session): { field: string; ids: readonly string[] } {
    return { field: this.#domainField, ids: [...this.#scope(session).visible] };
  }

  #domainOf(entity: Entity): string {
    return String(entity[this.#domainField]);
  }

  async #existing(session: Session, id: string): Promise<Entity> {
    const entity = await this.#stored(session, id);
    if (entity === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: this.entity });
    return entity;
  }

  async #check(session: Session, scope: DomainScope, fields: Fields, before: Entity | undefined): Promise<void> {
    const domainId = fields['domain_id'];
    if (typeof domainId === 'string' && domainId !== before?.['domain_id'] && !scope.visible.has(domainId)) {
      throw outOfReach('domain_id');
    }
    await this.#rules.check?.({ fields, before, scope, session });
  }

  /** @throws RestError 400/1400 for a missing key or one that is not unique */
  #wanted(keys: Fields): readonly (readonly [key: string, value: string])[] {
    const known = ['id', ...this.#rules.keys];
    const wanted: [string, string][] = [];
    for (const [key, value] of Object.entries(keys)) {
      if (key === 'domain_id') continue;
      if (!known.includes(key)) throw badParameter(key, `is no key; look up by ${known.join(', ')}`);
      if (typeof value !== 'string' || value === '') throw badParameter(key, 'must be a non-empty text');
      wanted.push([key, value]);
    }
    if (wanted.length === 0) throw badParameter(known.join(', '), 'one of them is needed');
    return wanted;
  }
}

/** The form of ids; other texts are not looked up. */
export function isId(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(text);
}
