/** The live calls of the domain: read once, then followed by events. Changed calls are read again together, once a second. */
import { signal } from '@preact/signals';
import { read } from '../lib/api.ts';
import { feed } from '../lib/feed.ts';

export interface Leg {
  readonly callid: string;
  readonly side: 'a' | 'b';
  readonly localuri: string;
  readonly remoteuri: string;
}

/** A dialog of `GET /uc/calls`, as far as the console uses it. */
export interface Call {
  readonly dialogid: string;
  readonly inviteid: string;
  readonly status: 'forking' | 'dialog';
  /** From and To of the initiating INVITE. */
  readonly remoteuri: string;
  readonly localuri: string;
  /** Milliseconds since the epoch. */
  readonly startts: number;
  readonly site: string;
  readonly legs: readonly Leg[];
}

export type CallPath = '/uc/calls' | '/user/sip/calls';

const MASK = 'dialogid,inviteid,status,remoteuri,localuri,startts,site,legs';
const READ_MS = 1_000;
/** Of one request: a filter has at most 512 nodes. */
const MOST_AT_ONCE = 200;
/** More are read faster as the whole list. */
const MOST_REQUESTS = 4;

/** Live calls of a path. Begin with {@link follow}. */
export class LiveCalls {
  /** Newest first; undefined before the first answer. */
  readonly list = signal<readonly Call[] | undefined>(undefined);
  readonly problem = signal<unknown>(undefined);
  readonly #path: CallPath;
  readonly #calls = new Map<string, Call>();
  readonly #changed = new Set<string>();
  #all = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #followers = 0;
  #end: (() => void) | undefined;

  constructor(path: CallPath) {
    this.#path = path;
  }

  /** Follows the calls until the returned function is called. */
  follow(): () => void {
    this.#followers += 1;
    this.#end ??= feed.follow({
      events: ['callevents'],
      onStart: () => this.refresh(),
      onEvent: ({ type, data }) => {
        const ids = [data['dialogid'], data['new_dialogid']].filter((id) => typeof id === 'string' && id !== '');
        if (type === 'call_end') this.#remove(ids as string[]);
        else this.#mark(ids as string[]);
      },
    });
    return () => {
      this.#followers -= 1;
      if (this.#followers > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#end?.();
      this.#end = undefined;
    };
  }

  /** Reads the whole list again. */
  refresh(): void {
    this.#all = true;
    this.#later(0);
  }

  #mark(ids: readonly string[]): void {
    for (const id of ids) this.#changed.add(id);
    if (ids.length > 0) this.#later(READ_MS);
  }

  #remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#calls.delete(id);
      this.#changed.delete(id);
    }
    this.#later(READ_MS);
  }

  #later(ms: number): void {
    if (this.#timer !== undefined && ms > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), ms);
  }

  async #read(): Promise<void> {
    const ids = [...this.#changed];
    const all = this.#all || ids.length > MOST_AT_ONCE * MOST_REQUESTS;
    this.#changed.clear();
    this.#all = false;
    try {
      if (all || ids.length > 0) {
        const found = all ? await this.#list() : await this.#listSome(ids);
        if (all) this.#calls.clear();
        else for (const id of ids) this.#calls.delete(id);
        for (const call of found) this.#calls.set(call.dialogid, call);
      }
      this.problem.value = undefined;
    } catch (error) {
      this.problem.value = error;
    }
    this.list.value = [...this.#calls.values()].toSorted((a, b) => b.startts - a.startts);
    this.#timer = undefined;
    if (this.#changed.size > 0 || this.#all) this.#later(READ_MS);
  }

  #list(filter?: object): Promise<Call[]> {
    return read<Call[]>(this.#path, { mask: MASK, filter });
  }

  async #listSome(ids: readonly string[]): Promise<Call[]> {
    const parts = Array.from({ length: Math.ceil(ids.length / MOST_AT_ONCE) }, (_part, index) =>
      ids.slice(index * MOST_AT_ONCE, (index + 1) * MOST_AT_ONCE),
    );
    return (await Promise.all(parts.map((part) => this.#list({ dialogid: part.join('|') })))).flat();
  }
}

/** The calls of the whole domain. */
export const domainCalls = new LiveCalls('/uc/calls');
/** The person's own calls. */
export const ownCalls = new LiveCalls('/user/sip/calls');
