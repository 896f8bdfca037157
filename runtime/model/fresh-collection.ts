/** A collection whose class may change during a request, here or on another node. */
import { withCurrentClass } from './current-class.ts';
import type { ResolvedClass } from './class-definition.ts';
import type {
  CreateOptions,
  ListAnswer,
  ListQuery,
  ModelCollection,
  ReadOptions,
  RemoveOptions,
  ReplaceOptions,
  UpdateOptions,
} from './model.ts';
import type { Entity, Input } from './fields.ts';

export class FreshCollection implements ModelCollection {
  readonly #inner: ModelCollection;
  readonly #refresh: () => Promise<void>;

  /** @param refresh reloads the classes */
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

  append(inputs: readonly Input[]): Promise<void> {
    return this.#try(() => this.#inner.append(inputs));
  }

  list(query: ListQuery): Promise<ListAnswer> {
    return this.#try(() => this.#inner.list(query));
  }

  listJson(query: ListQuery): Promise<string> {
    return this.#try(() => this.#inner.listJson(query));
  }

  whole(query: ListQuery): ReturnType<ModelCollection['whole']> {
    return this.#try(() => this.#inner.whole(query));
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

  #try<T>(act: () => Promise<T>): Promise<T> {
    return withCurrentClass(act, this.#refresh);
  }
}
