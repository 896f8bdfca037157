/** The settings of a class, as `/domain/classes` shows them (decisions, "Dynamic model"). */

export const DATA_TYPES = [
  'string',
  'boolean',
  'integer',
  'long',
  'float',
  'enum',
  'increment',
  'any',
  'attachment',
] as const;
export type DataType = (typeof DATA_TYPES)[number];

export const STORAGE_MODES = ['category', 'history', 'transactionlog', 'ram', 'runtime', 'ets', 'abstract'] as const;
export type StorageMode = (typeof STORAGE_MODES)[number];

/** The queries that an index serves. An array of names is an index over several properties, this one first. */
export type IndexKind = boolean | 'wildcard' | 'list' | readonly string[];

export interface PropertyDefinition {
  readonly name: string;
  readonly data_type: DataType;
  /** The value is an array of the type. */
  readonly multi: boolean;
  readonly required: boolean;
  /** Value of an absent property on create; undefined: no default. */
  readonly default?: unknown;
  /** The values of an enum. */
  readonly items: readonly string[];
  readonly index: IndexKind;
  readonly unique: boolean;
  /** Levels of an `any` value that PATCH merges; 0 replaces. */
  readonly merge_levels: number;
}

export interface ClassOptions {
  /** Properties that LOOKUP accepts besides `id`. */
  readonly lookup_properties: readonly string[];
  /** Mask over the fields that a list returns; empty: all fields. */
  readonly max_mask: string;
  /** Largest number of entities in a list response. */
  readonly max_limit: number;
  /** PUT reads the entity first. */
  readonly put_preread: boolean;
  /** Subscribers are notified of changes. */
  readonly notify: boolean;
  /** The `long` property (milliseconds since the epoch, UTC) by which history and transactionlog are partitioned. */
  readonly partition_property: string;
  readonly partition_interval: 'day' | 'month';
  /** Partitions older than this many days are dropped; 0: kept. */
  readonly store_days: number;
  /** Start of a runtime entity's lifetime. */
  readonly expires_mode: 'none' | 'create' | 'modify';
  /** Seconds. */
  readonly expires_ttl: number;
}

/** Settings of a class as written, without inherited ones. */
export interface ClassDefinition {
  readonly id: string;
  readonly domain_id: string;
  /** Path below `/model/`; may contain `/`. */
  readonly classname: string;
  readonly name: string;
  readonly description: string;
  /** Parent class, whose properties this one inherits. */
  readonly parent_id: string | null;
  readonly storage_mode: StorageMode;
  readonly properties: readonly PropertyDefinition[];
  readonly opts: ClassOptions;
  /** `ct` and `lwt` are the ISO 8601 times of creation and last change; other keys are the client's. */
  readonly ext: Readonly<Record<string, unknown>>;
}

/** A class with its inherited settings; entities are checked against it. */
export interface ResolvedClass extends ClassDefinition {
  /** Inherited properties first. */
  readonly allProperties: readonly PropertyDefinition[];
  /** Incremented by each change of the class or of an ancestor. */
  readonly version: number;
}
