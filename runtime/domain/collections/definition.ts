/** The declaration of a domain-center collection. */
import type { Kysely } from 'kysely';
import type { TObject, TProperties } from 'typebox';
import type { Schema } from '../../storage/index.ts';

/** A stored entity: a row of the table, with jsonb columns as values. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** Fields from the caller. */
export type Input = Readonly<Record<string, unknown>>;

/** An entity as the present transaction will leave it. */
export interface Pending {
  readonly entity: Input;
  readonly before: Row | undefined;
}

/** An entity that `settle` changed; of this collection or of one linked with it. */
export interface Settled {
  readonly table: keyof Schema;
  readonly before: Row;
  readonly after: Row;
}

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
  /** Further defaults, which follow from the given fields. */
  defaultsOf?(input: Input): Input;
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
  /** Taken first in every transaction that writes. */
  lock?(db: Kysely<Schema>): Promise<void>;
  /**
   * Computes columns from the resulting entity.
   *
   * @param before the present entity; undefined on create
   * @param pending the entities of this transaction as they will be, without computed columns
   * @throws InvalidFieldError when the change requires another field
   */
  derive?(entity: Input, before: Row | undefined, db: Kysely<Schema>, pending: readonly Pending[]): Promise<Input>;
  /** Refuses the removal of an entity in use, in its transaction. @throws EntityInUseError */
  checkRemoval?(before: Row, db: Kysely<Schema>): Promise<void>;
  /** Further writes of a change, in its transaction. */
  record?(after: Row, before: Row | undefined, db: Kysely<Schema>): Promise<void>;
  /** Changes of other entities that follow from the written ones, at the end of their transaction. */
  settle?(
    written: readonly { readonly before: Row | undefined; readonly after: Row }[],
    db: Kysely<Schema>,
  ): Promise<readonly Settled[]>;
}
