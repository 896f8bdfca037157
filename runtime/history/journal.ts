/** A journal of calls: those that go on, and those that the database does not have yet. */
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallFacts, MediaFacts } from '../callstore/index.ts';
import { readJsonLines } from '../json-lines/index.ts';

/** `media`: what `CallFacts.media` is, of a call that ended; `done`: ids of calls that the database has. */
type Line =
  | { readonly call: CallFacts }
  | { readonly media: { readonly id: string; readonly legs: readonly (MediaFacts | null)[] } }
  | { readonly done: readonly string[] };

/** Octets after which the file is rewritten without the calls that the database has. */
const COMPACT_BYTES = 1_048_576;

/**
 * Calls in a file, so that none is lost when the database is away or the node is killed. Writes go to the system's cache,
 * which survives the process, but not the machine.
 */
export class CallJournal {
  readonly #file: string;
  readonly #limit: number;
  /** Lines of live calls, and of ended ones, by id. */
  readonly #live = new Map<string, string>();
  readonly #ended = new Map<string, string>();
  #descriptor: number;
  /** Octets of the file, and of the lines of ended calls. */
  #bytes = 0;
  #endedBytes = 0;
  #closed = false;

  /** Calls that went on when an earlier process ended, if they were not ended as lost. */
  readonly left: readonly CallFacts[];

  private constructor(
    file: string,
    limit: number,
    all: readonly CallFacts[],
    { now, keepsLeft }: { readonly now: number; readonly keepsLeft: boolean },
  ) {
    this.#file = file;
    this.#limit = limit;
    this.left = keepsLeft ? all.filter(({ end }) => end === undefined) : [];
    for (const facts of this.left) this.#live.set(facts.id, line(facts));
    for (const facts of all) {
      if (this.#live.has(facts.id)) continue;
      const end = facts.end ?? { at: now, by: 'lost' as const, status: null, reason: null };
      this.#keep(facts.id, line({ ...facts, end }));
    }
    this.#descriptor = this.#rewrite();
  }

  /**
   * Opens the journal of a node that may have been killed: calls that went on then are ended as lost.
   * @param limit octets of ended calls
   * @param options.now milliseconds since the epoch
   * @param options.keepsLeft true: those calls are kept as they are, see `left`
   * @throws errors of the file system, except for a missing file
   */
  static open(file: string, limit: number, { now = Date.now(), keepsLeft = false } = {}): CallJournal {
    mkdirSync(dirname(file), { recursive: true });
    return new CallJournal(file, limit, readLeft(file), { now, keepsLeft });
  }

  /** Number of ended calls that the database does not have. */
  get waiting(): number {
    return this.#ended.size;
  }

  /** A call began or was answered. @throws errors of the file system */
  going(facts: CallFacts): void {
    const text = line(facts);
    this.#live.set(facts.id, text);
    this.#write(text);
  }

  /** Another node has the call now. @throws errors of the file system */
  moved(id: string): void {
    this.#live.delete(id);
    this.#write(`${JSON.stringify({ done: [id] } satisfies Line)}\n`);
  }

  /**
   * A call ended.
   * @returns false beyond the limit: the call is not kept
   * @throws errors of the file system; the call is kept in memory then
   */
  over(facts: CallFacts): boolean {
    this.#live.delete(facts.id);
    if (this.#endedBytes >= this.#limit) {
      this.#write(`${JSON.stringify({ done: [facts.id] } satisfies Line)}\n`);
      return false;
    }
    const text = line(facts);
    this.#keep(facts.id, text);
    this.#write(text);
    return true;
  }

  /** A call is none of this node's any more. @throws errors of the file system */
  forget(id: string): void {
    if (this.#live.delete(id)) this.#write(`${JSON.stringify({ done: [id] } satisfies Line)}\n`);
  }

  /** The figures of the legs of an ended call; ignored when the journal does not keep it. @throws errors of the file system */
  media(id: string, legs: readonly (MediaFacts | null)[]): void {
    const before = this.#ended.get(id);
    if (before === undefined) return;
    // In front of the two brackets and the line end of `line`.
    const text = `${before.slice(0, -3)},"media":${JSON.stringify(legs)}}}\n`;
    this.#endedBytes += Buffer.byteLength(text) - Buffer.byteLength(before);
    this.#ended.set(id, text);
    this.#write(`${JSON.stringify({ media: { id, legs } } satisfies Line)}\n`);
  }

  /** The ended calls that wait longest. @param isReady false for a call that waits on */
  next(count: number, isReady: (id: string) => boolean = () => true): readonly CallFacts[] {
    const lines: CallFacts[] = [];
    for (const [id, text] of this.#ended) {
      if (lines.length >= count) break;
      if (isReady(id)) lines.push((JSON.parse(text) as { call: CallFacts }).call);
    }
    return lines;
  }

  /** The database has these calls. @throws errors of the file system */
  done(ids: readonly string[]): void {
    for (const id of ids) {
      this.#endedBytes -= Buffer.byteLength(this.#ended.get(id) ?? '');
      this.#ended.delete(id);
    }
    this.#write(`${JSON.stringify({ done: ids } satisfies Line)}\n`);
  }

  /** Stops recording. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#descriptor);
  }

  #keep(id: string, text: string): void {
    this.#ended.set(id, text);
    this.#endedBytes += Buffer.byteLength(text);
  }

  #write(text: string): void {
    if (this.#closed) return;
    this.#bytes += writeSync(this.#descriptor, text);
    // Each rewrite at least halves the file, so that a journal of waiting calls is not copied again and again.
    if (this.#bytes < COMPACT_BYTES || this.#bytes < 2 * this.#endedBytes) return;
    // The old one is closed last: a failure must not leave the number of a closed file, which may be another's soon.
    const before = this.#descriptor;
    this.#descriptor = this.#rewrite();
    closeSync(before);
  }

  /** Written to a temporary file and renamed, because the process may end at any moment. */
  #rewrite(): number {
    const text = [...this.#ended.values(), ...this.#live.values()].join('');
    writeFileSync(`${this.#file}.new`, text);
    renameSync(`${this.#file}.new`, this.#file);
    this.#bytes = Buffer.byteLength(text);
    return openSync(this.#file, 'a');
  }
}

function line(call: CallFacts): string {
  return `${JSON.stringify({ call } satisfies Line)}\n`;
}

function readLeft(file: string): readonly CallFacts[] {
  const left = new Map<string, CallFacts>();
  for (const each of readJsonLines<Line>(file)) {
    if ('call' in each) left.set(each.call.id, each.call);
    else if ('media' in each) {
      const call = left.get(each.media.id);
      if (call !== undefined) left.set(call.id, { ...call, media: each.media.legs });
    } else for (const id of each.done) left.delete(id);
  }
  return [...left.values()];
}
