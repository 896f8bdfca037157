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

/** What an index is to serve; an array of names is an index over several properties, this one first. */
export type IndexKind = boolean | 'wildcard' | 'list' | readonly string[];

export interface PropertyDefinition {
  readonly name: string;
  readonly data_type: DataType;
  /** Values are arrays of the type. */
  readonly multi: boolean;
  readonly required: boolean;
  /** Value of an absent property on create; undefined: none. */
  readonly default?: unknown;
  /** The values of an enum. */
  readonly items: readonly string[];
  readonly index: IndexKind;
  readonly unique: boolean;
  /** How many levels of an `any` PATCH merges; 0 replaces. */
  readonly merge_levels: number;
}

export interface ClassOptions {
  /** Properties that LOOKUP takes beside `id`. */
  readonly lookup_properties: readonly string[];
  /** The most that a list answers of each entity, as a mask; empty: everything. */
  readonly max_mask: string;
  /** The most entities that a list answers. */
  readonly max_limit: number;
  /** PUT reads the entity first. */
  readonly put_preread: boolean;
  /** Changes are told to subscribers. */
  readonly notify: boolean;
  /** The `long` property (milliseconds since the epoch, UTC) by which history and transactionlog are partitioned. */
  readonly partition_property: string;
  readonly partition_interval: 'day' | 'month';
  /** Partitions older than this many days are dropped; 0: none are. */
  readonly store_days: number;
  /** What the lifetime of a runtime entity counts from. */
  readonly expires_mode: 'none' | 'create' | 'modify';
  /** Seconds. */
  readonly expires_ttl: number;
}

/** A class as it was written: without what it inherits. */
export interface ClassDefinition {
  readonly id: string;
  readonly domain_id: string;
  /** May hold `/`: the path below `/model/`. */
  readonly classname: string;
  readonly name: string;
  readonly description: string;
  /** The class whose properties this one inherits. */
  readonly parent_id: string | null;
  readonly storage_mode: StorageMode;
  readonly properties: readonly PropertyDefinition[];
  readonly opts: ClassOptions;
  /** `ct` and `lwt`: ISO 8601 times of creation and last change, and whatever the caller keeps there. */
  readonly ext: Readonly<Record<string, unknown>>;
}

/** A class with what it inherits: what entities are checked against. */
export interface ResolvedClass extends ClassDefinition {
  /** Inherited properties first. */
  readonly allProperties: readonly PropertyDefinition[];
  /** Grows with each change of the class or of one it inherits from. */
  readonly version: number;
}
