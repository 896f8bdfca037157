/**
 * Entities in the order of one property. Readers take a view, which concurrent writes do not change: the list consists
 * of chunks, and a chunk in a view is copied before it is written.
 */
import { compareValues } from '../filter/index.ts';
import { compareText } from '../filter/values.ts';
import type { Entity } from '../fields.ts';

/** Entities per chunk; a chunk of twice the size is split. */
const CHUNK = 512;

/** Bounds of a range of values; undefined: open. Null is outside of every bounded range. */
export interface ValueRange {
  readonly low?: { readonly value: unknown; readonly inclusive: boolean } | undefined;
  readonly high?: { readonly value: unknown; readonly inclusive: boolean } | undefined;
}

interface Position {
  readonly chunk: number;
  readonly index: number;
}

type Chunks = readonly (readonly Entity[])[];

/** By the value, null last, then by id. */
export class SortedEntities {
  readonly #property: string;
  readonly #chunks: Entity[][] = [];
  /** Chunks that no view shares. */
  #own = new Set<readonly Entity[]>();

  constructor(property: string) {
    this.#property = property;
  }

  view(): SortedView {
    this.#own = new Set();
    return new SortedView(this.#property, [...this.#chunks]);
  }

  add(entity: Entity): void {
    const { chunk: found, index } = this.#find(entity);
    if (found < 0) {
      const first = [entity];
      this.#own.add(first);
      this.#chunks.push(first);
      return;
    }
    const chunk = this.#writable(found);
    chunk.splice(index, 0, entity);
    if (chunk.length <= CHUNK * 2) return;
    const second = chunk.splice(CHUNK);
    this.#own.add(second);
    this.#chunks.splice(found + 1, 0, second);
  }

  /** @param entity the object that was added */
  remove(entity: Entity): void {
    const { chunk: found, index } = this.#find(entity);
    if (this.#chunks[found]?.[index]?.id !== entity.id) return;
    const chunk = this.#writable(found);
    chunk.splice(index, 1);
    if (chunk.length > 0) return;
    this.#chunks.splice(found, 1);
    this.#own.delete(chunk);
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#own.clear();
  }

  /** Position of the entity, or the place to insert it. */
  #find(entity: Entity): Position {
    const value = entity[this.#property];
    return positionIn(this.#chunks, (other) => {
      const order = this.#property === 'id' ? 0 : compareValues(other[this.#property], value);
      return order === 0 ? compareText(other.id, entity.id) < 0 : order < 0;
    });
  }

  #writable(index: number): Entity[] {
    const chunk = this.#chunks[index] ?? [];
    if (this.#own.has(chunk)) return chunk;
    const copy = chunk.slice();
    this.#own.add(copy);
    this.#chunks[index] = copy;
    return copy;
  }
}

/** A view: the entities at the time it was taken. */
export class SortedView {
  readonly #property: string;
  readonly #chunks: Chunks;

  constructor(property: string, chunks: Chunks) {
    this.#property = property;
    this.#chunks = chunks;
  }

  /** Number of entities in a range. */
  count(range: ValueRange = {}): number {
    const [from, to] = this.#ends(range);
    let count = to.index - from.index;
    for (let chunk = from.chunk; chunk < to.chunk; chunk += 1) count += this.#chunks[chunk]?.length ?? 0;
    return count;
  }

  /** The entities of a range in batches; equal values are ordered by ascending id, also in descending order. */
  *batches(range: ValueRange = {}, descending = false): Iterable<readonly Entity[]> {
    const [from, to] = this.#ends(range);
    if (descending) yield* this.#descending(from, to);
    else yield* this.#ascending(from, to);
  }

  *#ascending(from: Position, to: Position): Iterable<readonly Entity[]> {
    for (let index = from.chunk; index <= to.chunk; index += 1) {
      const chunk = this.#chunks[index];
      if (chunk === undefined) return;
      const [start, end] = [index === from.chunk ? from.index : 0, index === to.chunk ? to.index : chunk.length];
      if (start < end) yield end - start === chunk.length ? chunk : chunk.slice(start, end);
    }
  }

  *#descending(from: Position, to: Position): Iterable<readonly Entity[]> {
    let batch: Entity[] = [];
    for (let end = to; isBefore(from, end); ) {
      const last = this.#before(end);
      const value = this.#valueAt(last);
      const isAlone = !isBefore(from, last) || compareValues(this.#valueAt(this.#before(last)), value) !== 0;
      const start = isAlone ? last : later(from, this.#lower(value));
      for (const entities of this.#ascending(start, end)) {
        batch.push(...entities);
        if (batch.length < CHUNK) continue;
        yield batch;
        batch = [];
      }
      end = start;
    }
    if (batch.length > 0) yield batch;
  }

  #ends({ low, high }: ValueRange): readonly [Position, Position] {
    const end: Position = { chunk: this.#chunks.length - 1, index: this.#chunks.at(-1)?.length ?? 0 };
    if (end.chunk < 0) return [FIRST, FIRST];
    const from = low === undefined ? FIRST : low.inclusive ? this.#lower(low.value) : this.#upper(low.value);
    // Null sorts last.
    const nulls = low === undefined && high === undefined ? end : this.#lower(null);
    const to = high === undefined ? nulls : high.inclusive ? this.#upper(high.value) : this.#lower(high.value);
    return isBefore(from, to) ? [from, to] : [from, from];
  }

  #lower(value: unknown): Position {
    return positionIn(this.#chunks, (other) => compareValues(other[this.#property], value) < 0);
  }

  #upper(value: unknown): Position {
    return positionIn(this.#chunks, (other) => compareValues(other[this.#property], value) <= 0);
  }

  #before({ chunk, index }: Position): Position {
    return index > 0
      ? { chunk, index: index - 1 }
      : { chunk: chunk - 1, index: (this.#chunks[chunk - 1]?.length ?? 1) - 1 };
  }

  #valueAt({ chunk, index }: Position): unknown {
    return this.#chunks[chunk]?.[index]?.[this.#property];
  }
}

const FIRST: Position = { chunk: 0, index: 0 };

function isBefore(a: Position, b: Position): boolean {
  return a.chunk < b.chunk || (a.chunk === b.chunk && a.index < b.index);
}

function later(a: Position, b: Position): Position {
  return isBefore(a, b) ? b : a;
}

/**
 * The first entity for which `precedes` is false, or the end of the chunk where it would be; chunk -1 when there is
 * none.
 *
 * @param precedes true up to some entity, false from there
 */
function positionIn(chunks: Chunks, precedes: (entity: Entity) => boolean): Position {
  // The last chunk whose first entity precedes; none when the first chunk begins with the sought entity.
  const after = partition(chunks.length, (index) => {
    const [first] = chunks[index] ?? [];
    return first !== undefined && precedes(first);
  });
  const chunk = Math.max(0, after - 1);
  const entities = chunks[chunk];
  if (entities === undefined) return { chunk: -1, index: 0 };
  const index = partition(entities.length, (at) => {
    const entity = entities[at];
    return entity !== undefined && precedes(entity);
  });
  // The end of a chunk equals the beginning of the next.
  return index === entities.length && chunk + 1 < chunks.length ? { chunk: chunk + 1, index: 0 } : { chunk, index };
}

/** The first of `count` indexes for which `holds` is false. */
function partition(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
