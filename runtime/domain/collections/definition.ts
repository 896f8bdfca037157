/** The declaration of a domain-center collection. */
import type { Kysely } from 'kysely';
import type { TObject, TProperties } from 'typebox';
import type { Schema } from '../../storage/index.ts';

/** A stored entity: a row of the table, with jsonb columns as values. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** Fields from the caller. */
export type Input = Readonly<Record<string, unknown>>;

/** Declares a domain-center collection; `Collection` implements them all. */
export interface CollectionDefinition {
  /** Singular, for messages. */
  readonly entity: string;
  readonly table: keyof Schema;
  /** Schema of the writable fields of a complete entity, including `writeOnly` ones. */
  readonly schema: TObject;
  /** Columns that are returned but not writable. They are also in `hidden`. */
  readonly readOnly?: TProperties;
  /** Defaults of absent fields on create. */
  readonly defaults: Input;
  /** jsonb objects merged by first-level keys on change. */
  readonly composites: readonly string[];
  /** jsonb columns replaced on change. */
  readonly json: readonly string[];
  /** Fields without a column, such as `pwd`; `derive` computes columns from them. */
  readonly writeOnly: readonly string[];
  /** Columns that callers cannot write; they are internal, except those in `readOnly`. */
  readonly hidden: readonly string[];
  /** The field reported for a violated unique or foreign key constraint. */
  readonly constraints: Readonly<Record<string, string>>;
  /** The field that refers to another entity of the same collection. */
  readonly selfReference?: string;
  /** Computes slow columns from the input, such as a password hash; runs outside the transaction. */
  prepare?(input: Input): Promise<Input>;
  /**
   * Computes columns from the resulting entity.
   *
   * @param before the present entity; undefined on create
   * @throws InvalidFieldError when the change requires another field
   */
  derive?(entity: Input, before: Row | undefined, db: Kysely<Schema>): Promise<Input>;
  /** Refuses the removal of an entity in use, in its transaction. @throws EntityInUseError */
  checkRemoval?(before: Row, db: Kysely<Schema>): Promise<void>;
  /** Further writes of a change, in its transaction. */
  record?(after: Row, before: Row | undefined, db: Kysely<Schema>): Promise<void>;
}
