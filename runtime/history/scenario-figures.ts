/** Figures of scenarios by the hour, in the database: runs, failures, time in blocks, processor time and memory. */
import { sql } from 'kysely';
import type { RunFigures } from '../runs/index.ts';
import type { Schema, Storage } from '../storage/index.ts';
import type { HistoryLog } from './call-history.ts';

type Row = Schema['scenario_figures'];

export interface ScenarioFiguresOptions {
  readonly storage: Pick<Storage, 'db'>;
  /** Id of a domain by its name; undefined for a removed one. */
  readonly domainId: (name: string) => string | undefined;
  /** Days that figures are kept; 0: for ever. */
  readonly days: number;
  readonly log: HistoryLog;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: () => number;
}

/** Figures of one scenario in a period. */
export interface FiguresView {
  /** Ended runs, also as a part of other scenarios' runs. */
  readonly runs: number;
  /** The same by their end. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The same by the number of their version. */
  readonly versions: Readonly<Record<string, number>>;
  readonly total_ms: number;
  readonly longest_ms: number;
  /** Failed runs by error code. */
  readonly failures: Readonly<Record<string, number>>;
  /** The longest in total first. */
  readonly blocks: readonly {
    readonly block: string;
    readonly count: number;
    readonly total_ms: number;
    readonly longest_ms: number;
  }[];
  /** Processor time of scripts. */
  readonly cpu_ms: number;
  /** Greatest memory of a script. */
  readonly memory_bytes: number;
}

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Milliseconds in which figures gather for one statement. */
const GATHER_MS = 10_000;
/** Milliseconds that a stopping node waits for the database. */
const CLOSE_MS = 2_000;
/** Rows in memory, while the database is away; further ones are not counted. */
const MOST_ROWS = 20_000;
/** Rows a statement. */
const SET = 500;
/** Error codes and blocks of one scenario and hour; authors may compute them. Further ones count as one. */
const MOST_NAMES = 200;
const OTHER = 'other';
const MOST_CHARACTERS = 128;

/** Adds ended runs up in memory, and to the database every ten seconds. A killed node loses those of its last seconds. */
export class ScenarioFigures {
  readonly #options: ScenarioFiguresOptions;
  readonly #now: () => number;
  #rows = new Map<string, Row>();
  /** Names by scenario, hour and kind. */
  #names = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isAway = false;
  #clearedHour = 0;

  constructor(options: ScenarioFiguresOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** A run ended. */
  add({ domain, scenario, version, status, code, milliseconds, blocks, cpuMs, memoryBytes }: RunFigures): void {
    const id = this.#options.domainId(domain);
    if (id === undefined) return;
    const hour = Math.floor(this.#now() / HOUR_MS) * HOUR_MS;
    const of = { domain_id: id, scenario, hour };
    const run = {
      count: 1,
      total_ms: milliseconds,
      longest_ms: milliseconds,
      cpu_ms: cpuMs,
      memory_bytes: memoryBytes,
    };
    this.#sum({ ...of, kind: 'run', name: status, ...run });
    const none = { cpu_ms: 0, memory_bytes: 0 };
    const one = { count: 1, total_ms: 0, longest_ms: 0, ...none };
    this.#sum({ ...of, kind: 'version', name: version, ...one });
    if (code !== undefined) this.#sum({ ...of, kind: 'failure', name: code, ...one });
    for (const [name, { count, totalMs, longestMs }] of blocks)
      this.#sum({ ...of, kind: 'block', name, count, total_ms: totalMs, longest_ms: longestMs, ...none });
    this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS).unref();
  }

  /**
   * The figures of a scenario in the hours that begin in a period; those of this node up to now.
   * @param domain id
   * @param from milliseconds since the epoch
   * @param to exclusive
   * @returns undefined for a scenario without runs in the period
   */
  async read(
    domain: string,
    scenario: string,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<FiguresView | undefined> {
    await this.#flush();
    const { rows } = await sql<Omit<Row, 'domain_id' | 'scenario' | 'hour'>>`
      select kind, name, sum(count)::bigint as count, sum(total_ms)::bigint as total_ms, max(longest_ms) as longest_ms,
        sum(cpu_ms) as cpu_ms, max(memory_bytes) as memory_bytes
      from scenario_figures
      where domain_id = ${domain} and scenario = ${scenario} and hour >= ${from}::bigint and hour < ${to}::bigint
      group by kind, name order by sum(total_ms) desc, name`.execute(this.#options.storage.db);
    return rows.length === 0 ? undefined : viewOf(rows);
  }

  /** Writes what waits, for up to two seconds. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#flush(), late]);
    clearTimeout(timer);
    clearTimeout(this.#timer);
  }

  #sum(row: Row): void {
    const name = this.#named(row);
    const key = JSON.stringify([row.domain_id, row.scenario, row.hour, row.kind, name]);
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= MOST_ROWS) return;
    this.#rows.set(key, {
      ...row,
      name,
      count: (known?.count ?? 0) + row.count,
      total_ms: (known?.total_ms ?? 0) + Math.round(row.total_ms),
      longest_ms: Math.max(known?.longest_ms ?? 0, Math.round(row.longest_ms)),
      cpu_ms: (known?.cpu_ms ?? 0) + row.cpu_ms,
      memory_bytes: Math.max(known?.memory_bytes ?? 0, Math.round(row.memory_bytes)),
    });
  }

  #named({ domain_id: id, scenario, hour, kind, name }: Row): string {
    // PostgreSQL has no U+0000 in texts.
    const short = name.replaceAll('\0', '').toWellFormed().slice(0, MOST_CHARACTERS).toWellFormed();
    const of = JSON.stringify([id, scenario, hour, kind]);
    const names = this.#names.get(of) ?? new Set<string>();
    if (names.has(short)) return short;
    if (names.size >= MOST_NAMES) return OTHER;
    this.#names.set(of, names.add(short));
    return short;
  }

  /** One at a time. Never rejects. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { log } = this.#options;
    const hour = Math.floor(this.#now() / HOUR_MS) * HOUR_MS;
    try {
      while (this.#rows.size > 0) {
        const set = [...this.#rows].slice(0, SET);
        for (const [key] of set) this.#rows.delete(key);
        try {
          await this.#store(set.map(([, row]) => row));
        } catch (error) {
          for (const [, row] of set) this.#sum(row);
          throw error;
        }
      }
      await this.#clear(hour);
      this.#isAway = false;
    } catch (err) {
      if (!this.#isAway) log.warn({ err, rows: this.#rows.size }, 'figures of scenarios wait for the database');
      this.#isAway = true;
      this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS).unref();
    }
  }

  async #store(rows: readonly Row[]): Promise<void> {
    await this.#options.storage.db
      .insertInto('scenario_figures')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['domain_id', 'scenario', 'hour', 'kind', 'name']).doUpdateSet({
          count: sql`scenario_figures.count + excluded.count`,
          total_ms: sql`scenario_figures.total_ms + excluded.total_ms`,
          longest_ms: sql`greatest(scenario_figures.longest_ms, excluded.longest_ms)`,
          cpu_ms: sql`scenario_figures.cpu_ms + excluded.cpu_ms`,
          memory_bytes: sql`greatest(scenario_figures.memory_bytes, excluded.memory_bytes)`,
        }),
      )
      .execute();
  }

  /** Once an hour: removes figures past their time, and forgets the names of past hours. */
  async #clear(hour: number): Promise<void> {
    if (hour === this.#clearedHour) return;
    const { days, storage } = this.#options;
    if (days > 0)
      await storage.db
        .deleteFrom('scenario_figures')
        .where('hour', '<', hour - days * DAY_MS)
        .execute();
    this.#names = new Map();
    this.#clearedHour = hour;
  }
}

function viewOf(rows: readonly Omit<Row, 'domain_id' | 'scenario' | 'hour'>[]): FiguresView {
  const of = (wanted: Row['kind']) => rows.filter(({ kind }) => kind === wanted);
  const counts = (wanted: Row['kind']) => Object.fromEntries(of(wanted).map(({ name, count }) => [name, count]));
  const runs = of('run');
  const sum = (figure: 'count' | 'total_ms' | 'cpu_ms'): number => runs.reduce((all, row) => all + row[figure], 0);
  const most = (figure: 'longest_ms' | 'memory_bytes'): number => Math.max(0, ...runs.map((row) => row[figure]));
  return {
    runs: sum('count'),
    statuses: counts('run'),
    versions: counts('version'),
    total_ms: sum('total_ms'),
    longest_ms: most('longest_ms'),
    failures: counts('failure'),
    blocks: of('block').map(({ name, count, total_ms, longest_ms }) => ({ block: name, count, total_ms, longest_ms })),
    cpu_ms: Math.round(sum('cpu_ms') * 10) / 10,
    memory_bytes: most('memory_bytes'),
  };
}
