/** The interface of collections behind the REST routes. */
import type { TObject, TProperties } from 'typebox';
import type { WriteOptions } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import type { Precondition } from './entity-tag.ts';
import type { ResourceType, Selection } from './list.ts';

/** The fields of a request. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * A collection behind the REST routes. Entities invisible to a session do not exist for it: 404/1404, also for changes.
 * Every method may throw RestError.
 */
export interface Resource {
  /** Entities are made by uploads, at routes of their own: there is no POST of fields. */
  readonly madeByUpload?: boolean;
  /** Singular, capitalised, for messages: `Sipuser not found`. */
  readonly entity: string;
  readonly type: ResourceType;
  /** Schema of answers, for the documentation. */
  readonly schema: TObject;
  /** Fields that change without a write; entity tags do not cover them. */
  readonly live?: readonly string[];
  /** The visible entities, by id. */
  list(session: Session): Promise<readonly object[]>;
  /** Selects visible entities in their store; without it, `list` is filtered in memory. */
  readonly store?: {
    select(session: Session, selection: Selection): Promise<readonly object[]>;
    count(session: Session, selection: Selection): Promise<number>;
  };
  read(session: Session, id: string): Promise<object | undefined>;
  /** @throws RestError 400/1400, 403/1401, 409/1402 */
  create(session: Session, fields: Fields, options?: WriteOptions): Promise<object>;
  /** Creates all or none; errors name the field with the index before it. @throws RestError as `create` */
  createAll(session: Session, list: readonly Fields[], options?: WriteOptions): Promise<readonly object[]>;
  /** Merges `fields` into the entity. @throws RestError 400/1400, 403/1401, 404/1404, 409/1402, 412/1412 */
  update(
    session: Session,
    id: string,
    fields: Fields,
    precondition?: Precondition,
    options?: WriteOptions,
  ): Promise<object>;
  /**
   * Changes all or none; each has its `id`. A resource without it also has no dry runs.
   * @throws RestError as `update`, with the index before the field
   */
  updateAll?(session: Session, list: readonly Fields[], options?: WriteOptions): Promise<readonly object[]>;
  /** @throws RestError 404/1404, 409/1402, 412/1412 */
  remove(session: Session, id: string, precondition?: Precondition): Promise<void>;
  /** Ids of the entities with these values of the unique keys; none is an empty list. @throws RestError 400/1400 */
  lookup(session: Session, keys: Fields): Promise<readonly string[]>;
  /** Schemas of what `secretsOf` returns. */
  readonly secretFields?: TProperties;
  /** Secrets of a written entity, which only the answer to this request shows. @param fields of the request */
  secretsOf?(entity: object, fields: Fields, isNew: boolean): object;
  /** A copy of an entity that can be posted back: without generated fields. */
  importable(entity: object): object;
}
