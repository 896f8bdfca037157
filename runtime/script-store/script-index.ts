/** The scripts of one kind in memory: what a code means in a domain, and the programs of the versions that serve. */
import type { DomainName } from '../domain-name/index.ts';
import type { Program, StartingScenario } from '../language/index.ts';
import type { ScriptRow, Serving } from '../domain/index.ts';
import { SharedMap } from '../runs/index.ts';

/**
 * The program for a new run: the version on trial for its share of the runs or its callers, otherwise the active one.
 * @param caller number
 */
export type Choose = (domainId: string, code: string, caller?: string) => Program | undefined;

interface Entry {
  readonly code: string;
  readonly domainId: string;
  readonly serving: Serving;
  /** Programs of active versions without mistakes, by version. */
  readonly programs: ReadonlyMap<number, Program>;
}

export class ScriptIndex {
  readonly #byId = new SharedMap<string, Entry>();
  readonly #byCode = new SharedMap<string, string>();
  readonly #random: () => number;

  /** @param random 0 to 1 */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param programs programs of the row's active versions */
  put({ id, code, domain_id: domainId, serving }: ScriptRow, programs: ReadonlyMap<number, Program>): void {
    this.remove(id);
    this.#byId.set(id, { code, domainId, serving, programs });
    this.#byCode.set(key(domainId, code), id);
  }

  clear(): void {
    this.#byId.replace([]);
    this.#byCode.replace([]);
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    const place = key(entry.domainId, entry.code);
    // Another script may have this code meanwhile.
    if (this.#byCode.get(place) === id) this.#byCode.delete(place);
  }

  has(domainId: string, code: string): boolean {
    return this.#byCode.has(key(domainId, code));
  }

  /** Id of the script of this code. */
  idOf(domainId: string, code: string): string | undefined {
    return this.#byCode.get(key(domainId, code));
  }

  /** Chooses programs for new runs, now. @returns see `Choose` */
  choose: Choose = (domainId, code, caller) => chosen(this.#byId, this.#byCode, this.#random, [domainId, code, caller]);

  /** Chooses programs as now, also after later changes. */
  snapshot(): Choose {
    const [byId, byCode] = [this.#byId.snapshot(), this.#byCode.snapshot()];
    return (...asked) => chosen(byId, byCode, this.#random, asked);
  }

  /** @param domainName name of a domain by id; undefined for a deleted domain */
  starting(domainName: (id: string) => DomainName | undefined): readonly StartingScenario[] {
    return [...this.#byId.values()].flatMap(({ code, domainId, serving, programs }) => {
      const starts = serving.version === null ? undefined : programs.get(serving.version)?.starts;
      const domain = domainName(domainId);
      return starts === undefined || starts.length === 0 || domain === undefined ? [] : { id: code, starts, domain };
    });
  }
}

function chosen(
  byId: Pick<ReadonlyMap<string, Entry>, 'get'>,
  byCode: Pick<ReadonlyMap<string, string>, 'get'>,
  random: () => number,
  [domainId, code, caller]: Parameters<Choose>,
): Program | undefined {
  const entry = byId.get(byCode.get(key(domainId, code)) ?? '');
  if (entry === undefined) return undefined;
  const { serving, programs } = entry;
  const { trial, version } = serving;
  const isTried =
    trial !== undefined &&
    (random() * 100 < (trial.percent ?? 0) || (caller !== undefined && trial.callers?.includes(caller)));
  const tried = isTried ? programs.get(trial.version) : undefined;
  return tried ?? (version === null ? undefined : programs.get(version));
}

/** The key of a code in a domain; it is unique, because codes contain no slash. */
function key(domainId: string, code: string): string {
  return `${domainId}/${code}`;
}
