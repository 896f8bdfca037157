/** Event subscriptions of a client. */
import type { EslEvent } from './event.ts';

/** Formats in which a client can take events. */
export type EventFormat = 'plain' | 'json';

/** Largest number of filters of one client. */
const MAX_FILTERS = 1000;
/** Largest number of kinds of events that a client takes briefly. */
const MAX_BRIEF = 100;

/** The events that a connection gets, as set by `event`, `nixevent`, `noevents` and `filter`. */
export class Subscription {
  format: EventFormat = 'plain';
  #all = false;
  readonly #names = new Set<string>();
  readonly #subclasses = new Set<string>();
  #filters: { readonly header: string; readonly value: string }[] = [];
  #filtered: readonly string[] = [];
  #channels: ReadonlySet<string> | undefined;
  /** The headers of the events that come briefly, by name of the event. */
  readonly #brief = new Map<string, readonly string[]>();
  /** The filters have changed; `before` is the previous value of {@link channels}. */
  onFilter: (before: ReadonlySet<string> | undefined) => void = () => undefined;

  /** Unique-IDs of the channels whose events the connection can get; undefined for all channels. */
  get channels(): ReadonlySet<string> | undefined {
    return this.#channels;
  }

  /**
   * `event <format> <names>`: `ALL`, event names with or without SWITCH_EVENT_, and after CUSTOM subclasses.
   *
   * @returns false when no name was given
   */
  subscribe(words: readonly string[]): boolean {
    return this.#each(
      words,
      (set, name) => set.add(name),
      () => {
        this.#all = true;
      },
    );
  }

  /** `nixevent <names>`. */
  unsubscribe(words: readonly string[]): boolean {
    return this.#each(
      words,
      (set, name) => set.delete(name),
      () => this.clear(),
    );
  }

  /** `noevents`. */
  clear(): void {
    this.#all = false;
    this.#names.clear();
    this.#subclasses.clear();
  }

  /** `filter <header> <value>`: lets through only events that match one of the filters. False with too many filters. */
  addFilter(header: string, value: string): boolean {
    if (this.#filters.length >= MAX_FILTERS) return false;
    this.#filters.push({ header, value });
    this.#filtersChanged();
    return true;
  }

  /** `filter delete <header> [<value>]`; `all` deletes every filter. */
  deleteFilter(header: string, value: string | undefined): void {
    this.#filters =
      header === 'all'
        ? []
        : this.#filters.filter((each) => each.header !== header || (value !== undefined && each.value !== value));
    this.#filtersChanged();
  }

  /** `brief <event> <headers>`: of these events, only these headers; without headers all of them. False with too many events. */
  takeBriefly(name: string, headers: readonly string[]): boolean {
    if (headers.length === 0) this.#brief.delete(name);
    else if (this.#brief.size >= MAX_BRIEF && !this.#brief.has(name)) return false;
    else this.#brief.set(name, headers);
    return true;
  }

  /** The headers to send of an event; undefined for all. */
  brief(name: string): readonly string[] | undefined {
    return this.#brief.get(name);
  }

  /** The headers that decide whether an event is sent. */
  get filtered(): readonly string[] {
    return this.#filtered;
  }

  /** Whether the connection subscribes to this name: a cheap check before the event is built. */
  wantsName(name: string, subclass: string | undefined): boolean {
    if (this.#all) return true;
    if (name !== 'CUSTOM') return this.#names.has(name);
    return subclass !== undefined && this.#subclasses.has(subclass);
  }

  /** Whether the connection gets this event. */
  wants(event: EslEvent): boolean {
    if (!this.wantsName(event.name, event.subclass)) return false;
    if (this.#filters.length === 0) return true;
    return this.#filters.some(({ header, value }) => event.headers[header] === value);
  }

  #filtersChanged(): void {
    const before = this.#channels;
    this.#filtered = [...new Set(this.#filters.map(({ header }) => header))];
    const named = this.#filters.length > 0 && this.#filters.every(({ header }) => header === 'Unique-ID');
    this.#channels = named ? new Set(this.#filters.map(({ value }) => value)) : undefined;
    this.onFilter(before);
  }

  #each(words: readonly string[], act: (set: Set<string>, name: string) => void, all: () => void): boolean {
    let custom = false;
    let any = false;
    for (const word of words) {
      if (word === '') continue;
      any = true;
      const name = word.toUpperCase().replace(/^SWITCH_EVENT_/, '');
      if (name === 'CUSTOM') custom = true;
      else if (name === 'ALL') all();
      else if (custom) act(this.#subclasses, word);
      else act(this.#names, name);
    }
    return any;
  }
}
