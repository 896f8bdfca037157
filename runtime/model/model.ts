/** The data model's interface for the REST bridge, scenarios and the event bus. */
import type { FileStore } from '../storage/index.ts';
import type { Attachments } from './attachments/attachments.ts';
import type { KeptFiles } from './attachments/info.ts';
import type { ClassDefinition, ResolvedClass } from './class-definition.ts';
import type { Entity, Input } from './fields.ts';

/** Parameters of a list (specification, "Dynamic data model", "List parameters"), JSON already parsed. */
export interface ListQuery {
  /** A prefix-notation array or an object of conditions. */
  readonly filter?: unknown;
  /** A second filter, which holds as well: what the reader may see. */
  readonly within?: unknown;
  /** Field names, `{field: "asc" | "desc"}`, `["asc" | "desc", expression]`. */
  readonly order?: unknown;
  readonly mask?: string | undefined;
  readonly offset?: number | undefined;
  /** 0 returns the count only. */
  readonly limit?: number | undefined;
  readonly countonly?: boolean | undefined;
  readonly flat?: boolean | undefined;
  /** Returns entities that can be posted again: not flat, times in ISO 8601, without fields written by the platform. */
  readonly export?: boolean | undefined;
  /** `["from", "to"]`, ISO 8601 or milliseconds, `to` excluded: mandatory for history and transactionlog. */
  readonly interval?: unknown;
  /** `{resultName: aggregating expression}`. */
  readonly aggr?: unknown;
  /** `{resultName: field name or expression}`. */
  readonly groupby?: unknown;
  /** Mode A: an id made by the client; mode B: `*`. */
  readonly snapshot?: string | undefined;
  /** Owner of the snapshots: the session's id. */
  readonly session?: string | undefined;
}

/** `{count}` for `limit=0` and `countonly`, else the page: masked, and flat on request. */
export type ListAnswer = { readonly count: number } | readonly Readonly<Record<string, unknown>>[];

export interface ReadOptions {
  readonly mask?: string | undefined;
  readonly flat?: boolean | undefined;
  /** `YYYY-MM-DD`, UTC: mandatory for entities of history and transactionlog. */
  readonly date?: string | undefined;
}

/** Called with the present entity (undefined: none) before the write; an exception prevents the write. */
export type Precondition = (before: Entity | undefined) => void;

export interface RemoveOptions {
  readonly date?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

export interface UpdateOptions {
  /** Values of multi properties are appended to the present ones. */
  readonly append?: boolean | undefined;
  /** The input contains attachment metadata made by the file store; otherwise attachments cannot be written. */
  readonly attachments?: boolean | undefined;
  readonly date?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

export interface CreateOptions {
  /** Files stored with the new entity. */
  readonly files?: KeptFiles | undefined;
}

export interface ReplaceOptions extends CreateOptions {
  readonly date?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

/** The entities of one class. All methods may throw BadParameterError, InvalidFieldError and CannotApplyError. */
export interface ModelCollection {
  readonly definition: ResolvedClass;
  /** @throws ConflictError when the id or a unique value is taken */
  create(input: Input, options?: CreateOptions): Promise<Entity>;
  /** Creates all or none. @throws as `create`, with the index of the input before the field: `2.name` */
  createAll(inputs: readonly Input[]): Promise<readonly Entity[]>;
  /**
   * Creates those entities whose id is new on their UTC day, and leaves the others as they are. Nobody is notified. For
   * history and transactionlog.
   *
   * @throws as `createAll`
   */
  append(inputs: readonly Input[]): Promise<void>;
  list(query: ListQuery): Promise<ListAnswer>;
  /** The result of `list` as JSON text; for tables without intermediate objects. */
  listJson(query: ListQuery): Promise<string>;
  /**
   * Snapshot mode B, `snapshot: "*"`: all present matches, in batches. Undefined for queries without snapshots (tables,
   * aggregates, counts): use `list`.
   */
  whole(query: ListQuery): Promise<AsyncIterable<readonly Readonly<Record<string, unknown>>[]> | undefined>;
  /** @throws NotFoundError */
  read(id: string, options?: ReadOptions): Promise<Readonly<Record<string, unknown>>>;
  /** The result of `read` as JSON text. @throws NotFoundError */
  readJson(id: string, options?: ReadOptions): Promise<string>;
  /** PUT: replaces the entity, or creates it with that id. */
  replace(id: string, input: Input, options?: ReplaceOptions): Promise<Entity>;
  /** PATCH: the given fields; null clears one. @throws NotFoundError, ConflictError */
  update(id: string, input: Input, options?: UpdateOptions): Promise<Entity>;
  /**
   * Like `update`, with fields computed from the present entity, which is locked meanwhile.
   *
   * @throws errors of `change`; nothing is written then
   */
  edit(id: string, change: (before: Entity) => Input, options?: UpdateOptions): Promise<Entity>;
  /** @throws NotFoundError */
  remove(id: string, options?: RemoveOptions): Promise<void>;
  clear(): Promise<void>;
  /**
   * Ids of the entities with these key values (`id` and `opts.lookup_properties`), in order of id.
   *
   * @throws NotFoundError when there are none
   */
  lookup(keys: Input): Promise<readonly string[]>;
  /**
   * SETUP: `{cmd}` of suspend_notification, resume_notification (`send_reload`), read_partitions, drop_partition
   * (`partition`), optimize.
   *
   * @returns the partitions for read_partitions, else `{result: "ok"}`
   */
  setup(command: Input): Promise<readonly string[] | { readonly result: 'ok' }>;
}

/** Class settings: a normal collection, `/domain/classes`. */
export interface ModelClasses {
  list(): readonly ClassDefinition[];
  /** By id. */
  get(id: string): ClassDefinition | undefined;
  /** @throws InvalidFieldError naming the field, e.g. `properties.2.data_type`; ConflictError on `classname` or `id` */
  create(input: Input): Promise<ClassDefinition>;
  /**
   * Changes the given settings and converts the data; `opts` and `ext` are merged by first-level keys.
   *
   * @param precondition called with the present class before any change
   */
  update(id: string, input: Input, precondition?: (before: ClassDefinition) => void): Promise<ClassDefinition>;
  /** Removes the class with its data. @throws CannotApplyError while other classes inherit from it */
  remove(id: string): Promise<void>;
}

export type ChangeOperation = 'create' | 'update' | 'delete' | 'clear' | 'reload';

/** A change as subscribers see it (decisions, "model change"). */
export interface ModelChange {
  readonly domain: string;
  readonly classname: string;
  readonly operation: ChangeOperation;
  /** Undefined for clear and reload. */
  readonly id?: string | undefined;
  /** The entity before the change; subscription filters need it. */
  readonly before?: Entity | undefined;
  readonly after?: Entity | undefined;
  /** Another node wrote it and reports it to its own listeners, too. */
  readonly elsewhere?: true | undefined;
}

/**
 * Called after a write and before its caller resumes; not awaited. Changes of one entity arrive in order; those of
 * different entities of a table class in the order in which their writes end. Exceptions are logged.
 */
export type ModelListener = (change: ModelChange) => void;

export interface Model {
  readonly attachments: Attachments;
  /** @param domain id of the domain */
  classes(domain: string): ModelClasses;
  /** @throws NotFoundError for an unknown or abstract class */
  collection(domain: string, classname: string): ModelCollection;
  /** The class whose name begins a path (the longest match), and the rest of the path. */
  find(
    domain: string,
    segments: readonly string[],
  ): { readonly collection: ModelCollection; readonly rest: readonly string[] } | undefined;
  /** Class names below a path, for `GET /model/<path>/`: first segments, sorted, without duplicates. */
  children(domain: string, path: string): readonly string[];
  /** Returns the function that unsubscribes. */
  onChange(listener: ModelListener): () => void;
  /**
   * Removes files without an entity; the model does so every ten minutes.
   *
   * @param graceMs milliseconds without an entity before a file is removed; default one hour
   * @returns the number of removed files
   */
  sweepFiles(graceMs?: number): Promise<number>;
  /** Stops timers; memory classes lose their entities. */
  close(): Promise<void>;
}

/** Settings of `openModel`. */
export interface ModelSettings {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Store of attachment contents. */
  readonly files: FileStore;
  /** True when something other than an entity uses the file with this hash. */
  readonly usesFile?: ((hasha: string) => Promise<boolean>) | undefined;
  /** Bytes of one attachment; default 100 MiB. */
  readonly maxFileBytes?: number | undefined;
}
