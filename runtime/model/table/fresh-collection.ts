/**
 * A table's collection on one of several nodes. Between the commit of a class change on another node and its notice, this
 * node writes SQL for columns that are no longer so: it then reads the classes anew and tries again.
 */
import { SqlError } from '../../storage/index.ts';
import type { ResolvedClass } from '../class-definition.ts';
import type {
  CreateOptions,
  Entity,
  Input,
  ListAnswer,
  ListQuery,
  ModelCollection,
  ReadOptions,
  RemoveOptions,
  ReplaceOptions,
  UpdateOptions,
} from '../model.ts';

/** Undefined table, undefined column, a plan whose result type changed, a value of another type. */
const OUTDATED = ['42P01', '42703', '0A000', '42804', '42883'];

export class FreshCollection implements ModelCollection {
  readonly #inner: ModelCollection;
  readonly #refresh: () => Promise<void>;

  /** @param refresh reads the classes anew */
  constructor(inner: ModelCollection, refresh: () => Promise<void>) {
    this.#inner = inner;
    this.#refresh = refresh;
  }

  get definition(): ResolvedClass {
    return this.#inner.definition;
  }

  create(input: Input, options?: CreateOptions): Promise<Entity> {
    return this.#try(() => this.#inner.create(input, options));
  }

  createAll(inputs: readonly Input[]): Promise<readonly Entity[]> {
    return this.#try(() => this.#inner.createAll(inputs));
  }

  list(query: ListQuery): Promise<ListAnswer> {
    return this.#try(() => this.#inner.list(query));
  }

  listJson(query: ListQuery): Promise<string> {
    return this.#try(() => this.#inner.listJson(query));
  }

  whole(query: ListQuery): ReturnType<ModelCollection['whole']> {
    return this.#inner.whole(query);
  }

  read(id: string, options?: ReadOptions): Promise<Readonly<Record<string, unknown>>> {
    return this.#try(() => this.#inner.read(id, options));
  }

  readJson(id: string, options?: ReadOptions): Promise<string> {
    return this.#try(() => this.#inner.readJson(id, options));
  }

  replace(id: string, input: Input, options?: ReplaceOptions): Promise<Entity> {
    return this.#try(() => this.#inner.replace(id, input, options));
  }

  update(id: string, input: Input, options?: UpdateOptions): Promise<Entity> {
    return this.#try(() => this.#inner.update(id, input, options));
  }

  edit(id: string, change: (before: Entity) => Input, options?: UpdateOptions): Promise<Entity> {
    return this.#try(() => this.#inner.edit(id, change, options));
  }

  remove(id: string, options?: RemoveOptions): Promise<void> {
    return this.#try(() => this.#inner.remove(id, options));
  }

  clear(): Promise<void> {
    return this.#try(() => this.#inner.clear());
  }

  lookup(keys: Input): Promise<readonly string[]> {
    return this.#try(() => this.#inner.lookup(keys));
  }

  setup(command: Input): ReturnType<ModelCollection['setup']> {
    return this.#try(() => this.#inner.setup(command));
  }

  /** What failed so was undone as a whole. */
  async #try<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SqlError) || !OUTDATED.includes(error.code)) throw error;
      await this.#refresh();
      return await act();
    }
  }
}
