/** The room's contract: what the REST bridge, scenarios and the event bus see of the dynamic model. */
import type { FileStore } from '../storage/index.ts';
import type { Attachments } from './attachments/attachments.ts';
import type { KeptFiles } from './attachments/info.ts';
import type { ClassDefinition, ResolvedClass } from './class-definition.ts';
import type { Entity, Input } from './fields.ts';

/** Parameters of a list (specification, "Dynamic data model", "List parameters"), JSON already parsed. */
export interface ListQuery {
  /** A prefix-notation array or an object of conditions. */
  readonly filter?: unknown;
  /** Field names, `{field: "asc" | "desc"}`, `["asc" | "desc", expression]`. */
  readonly order?: unknown;
  readonly mask?: string | undefined;
  readonly offset?: number | undefined;
  /** 0 counts. */
  readonly limit?: number | undefined;
  readonly countonly?: boolean | undefined;
  readonly flat?: boolean | undefined;
  /** In a form that can be posted back: not flat, times ISO 8601, without what the platform writes. */
  readonly export?: boolean | undefined;
  /** `["from", "to"]`, ISO 8601 or milliseconds, half-open: mandatory for history and transactionlog. */
  readonly interval?: unknown;
  /** `{resultName: aggregating expression}`. */
  readonly aggr?: unknown;
  /** `{resultName: field name or expression}`. */
  readonly groupby?: unknown;
  /** Mode A: an id the client made; mode B: `*`. */
  readonly snapshot?: string | undefined;
  /** Whose snapshots these are: the session's id. */
  readonly session?: string | undefined;
}

/** `{count}` for `limit=0` and `countonly`, else the page: masked, flat when asked for. */
export type ListAnswer = { readonly count: number } | readonly Readonly<Record<string, unknown>>[];

export interface ReadOptions {
  readonly mask?: string | undefined;
  readonly flat?: boolean | undefined;
  /** `YYYY-MM-DD`, UTC: mandatory for entities of history and transactionlog. */
  readonly date?: string | undefined;
}

/**
 * Asked about the entity as it is, undefined where there is none, before it is written: what it throws leaves everything
 * as it was.
 */
export type Precondition = (before: Entity | undefined) => void;

export interface RemoveOptions {
  readonly date?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

export interface UpdateOptions {
  /** Values of multi properties are appended to the present ones. */
  readonly append?: boolean | undefined;
  /** The input holds metadata of attachments that the file store made; otherwise they cannot be written. */
  readonly attachments?: boolean | undefined;
  readonly date?: string | undefined;
  readonly precondition?: Precondition | undefined;
}

export interface CreateOptions {
  /** Part of the entity from its first moment. */
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
  /** Creates all or none. @throws as `create`, the field with the index of the input before it: `2.name` */
  createAll(inputs: readonly Input[]): Promise<readonly Entity[]>;
  list(query: ListQuery): Promise<ListAnswer>;
  /** What `list` answers, as JSON: for a table without making objects of its rows. */
  listJson(query: ListQuery): Promise<string>;
  /**
   * Snapshot mode B, `snapshot: "*"`: the whole matching set, some at a time, as it is now. Undefined where there are no
   * snapshots (tables, aggregates, counts): `list` answers then.
   */
  whole(query: ListQuery): Promise<AsyncIterable<readonly Readonly<Record<string, unknown>>[]> | undefined>;
  /** @throws NotFoundError */
  read(id: string, options?: ReadOptions): Promise<Readonly<Record<string, unknown>>>;
  /** The same as JSON. @throws NotFoundError */
  readJson(id: string, options?: ReadOptions): Promise<string>;
  /** PUT: replaces the entity, or places it with that id. */
  replace(id: string, input: Input, options?: ReplaceOptions): Promise<Entity>;
  /** PATCH: the given fields; null clears one. @throws NotFoundError, ConflictError */
  update(id: string, input: Input, options?: UpdateOptions): Promise<Entity>;
  /**
   * As `update`, with fields that depend on the entity as it is: nobody writes it in between.
   *
   * @throws whatever `change` throws; nothing is written then
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
   * Changes the given settings with the data in place; `opts` and `ext` are merged by first-level keys.
   *
   * @param precondition asked about the class as it is, before anything is changed
   */
  update(id: string, input: Input, precondition?: (before: ClassDefinition) => void): Promise<ClassDefinition>;
  /** Removes the class with its data. @throws CannotApplyError while other classes inherit from it */
  remove(id: string): Promise<void>;
}

export type ChangeOperation = 'create' | 'update' | 'delete' | 'clear' | 'reload';

/** What subscribers are told (decisions, "model change"). */
export interface ModelChange {
  readonly domain: string;
  readonly classname: string;
  readonly operation: ChangeOperation;
  /** Undefined for clear and reload. */
  readonly id?: string | undefined;
  /** The entity as it was; for filters that it may have left. */
  readonly before?: Entity | undefined;
  readonly after?: Entity | undefined;
}

/**
 * Called when a write is done, before its caller knows; not waited for. Changes of one entity come in their order, those
 * of different entities of a table class as their writes end. What it throws is logged.
 */
export type ModelListener = (change: ModelChange) => void;

export interface Model {
  readonly attachments: Attachments;
  /** @param domain id of the domain */
  classes(domain: string): ModelClasses;
  /** @throws NotFoundError when the domain has no such class, or it is abstract */
  collection(domain: string, classname: string): ModelCollection;
  /** The class whose name a path begins with, the longest if there are several, and what follows it. */
  find(
    domain: string,
    segments: readonly string[],
  ): { readonly collection: ModelCollection; readonly rest: readonly string[] } | undefined;
  /** Class names below a path, for `GET /model/<path>/`: first segments, sorted, without duplicates. */
  children(domain: string, path: string): readonly string[];
  /** Returns how to stop it. */
  onChange(listener: ModelListener): () => void;
  /**
   * Removes files that no entity has any more; the model does so every ten minutes.
   *
   * @param graceMs milliseconds for which a file must have been without an entity; default an hour
   * @returns how many
   */
  sweepFiles(graceMs?: number): Promise<number>;
  /** Ends timers; memory classes lose their entities. */
  close(): Promise<void>;
}

/** Opens the model: `openModel(storage)`. */
export interface ModelSettings {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Where the content of attachments is kept. */
  readonly files: FileStore;
  /** Whether something else than an entity has a file of this hash there. */
  readonly usesFile?: ((hasha: string) => Promise<boolean>) | undefined;
  /** Bytes of one attachment; default 100 MiB. */
  readonly maxFileBytes?: number | undefined;
}
