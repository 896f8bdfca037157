/** The routes of one domain: those for a single number in a hash, those with wildcards in a list, both by priority. */
import type { RouteTarget } from '../directory.ts';
import { type DialPattern, dialPattern } from './pattern.ts';

export interface Route {
  readonly id: string;
  readonly priority: number;
  readonly from: string;
  readonly to: string;
  readonly target: RouteTarget;
}

interface Entry {
  readonly route: Route;
  readonly from: DialPattern;
  readonly to: DialPattern;
}

function compare(a: Entry, b: Entry): number {
  if (a.route.priority !== b.route.priority) return a.route.priority - b.route.priority;
  return a.route.id < b.route.id ? -1 : 1;
}

/** A call from the platform has no caller: it matches only routes for every caller. */
function takes(entry: Entry, callerNumber: string | undefined, dialled: string): boolean {
  const caller = callerNumber === undefined ? entry.route.from === '%' : entry.from.matches(callerNumber);
  return caller && entry.to.matches(dialled);
}

export class RouteTable {
  readonly #exact = new Map<string, Entry[]>();
  readonly #wild: Entry[] = [];
  readonly #byId = new Map<string, Entry>();

  put(route: Route): void {
    this.remove(route.id);
    const entry: Entry = { route, from: dialPattern(route.from), to: dialPattern(route.to) };
    this.#byId.set(route.id, entry);
    const list = this.#listOf(entry);
    const { exact } = entry.to;
    if (exact !== undefined) this.#exact.set(exact, list);
    const after = list.findIndex((other) => compare(entry, other) < 0);
    list.splice(after < 0 ? list.length : after, 0, entry);
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    const list = this.#listOf(entry);
    list.splice(list.indexOf(entry), 1);
    if (entry.to.exact !== undefined && list.length === 0) this.#exact.delete(entry.to.exact);
  }

  /** The first route by priority whose patterns both match. */
  find(callerNumber: string | undefined, dialled: string): Route | undefined {
    const fits = (entry: Entry): boolean => takes(entry, callerNumber, dialled);
    const exact = this.#exact.get(dialled)?.find(fits);
    const wild = this.#wild.find(fits);
    if (exact === undefined || wild === undefined) return (exact ?? wild)?.route;
    return (compare(exact, wild) < 0 ? exact : wild).route;
  }

  #listOf({ to }: Entry): Entry[] {
    return to.exact === undefined ? this.#wild : (this.#exact.get(to.exact) ?? []);
  }
}
