import type { Kysely } from 'kysely';
import type { TObject, TProperties } from 'typebox';
import type { Schema } from '../../storage/index.ts';

/** One stored entity: a row of the table, jsonb columns as values. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** The fields as the caller gave them. */
export type Input = Readonly<Record<string, unknown>>;

/** A domain-center collection as data; `Collection` does the work for all of them. */
export interface CollectionDefinition {
  /** Singular, for messages. */
  readonly entity: string;
  readonly table: keyof Schema;
  /** What may be written, all fields of a complete entity; `writeOnly` ones included. */
  readonly schema: TObject;
  /** Columns that are answered but never written by a caller. They are in `hidden`, too. */
  readonly readOnly?: TProperties;
  /** Values of absent fields on create. */
  readonly defaults: Input;
  /** jsonb objects that a change merges by first-level keys. */
  readonly composites: readonly string[];
  /** jsonb columns that a change replaces. */
  readonly json: readonly string[];
  /** Fields that are no columns, such as `pwd`; `derive` makes columns of them. */
  readonly writeOnly: readonly string[];
  /** Columns that no caller writes; they never leave the node, but for those of `readOnly`. */
  readonly hidden: readonly string[];
  /** The field to blame for a broken unique or foreign key constraint. */
  readonly constraints: Readonly<Record<string, string>>;
  /** The field that names another entity of the same collection. */
  readonly selfReference?: string;
  /** Columns that take long to make of the written fields, such as a password hash; runs outside the transaction. */
  prepare?(input: Input): Promise<Input>;
  /**
   * Columns that follow from the entity as it will be.
   *
   * @param before the entity as it was; undefined on create
   * @throws InvalidFieldError when the change needs another field
   */
  derive?(entity: Input, before: Row | undefined, db: Kysely<Schema>): Promise<Input>;
  /** Refuses the removal of an entity that others name, in its transaction. @throws EntityInUseError */
  checkRemoval?(before: Row, db: Kysely<Schema>): Promise<void>;
  /** Writes what else belongs to a change, in its transaction. */
  record?(after: Row, before: Row | undefined, db: Kysely<Schema>): Promise<void>;
}
