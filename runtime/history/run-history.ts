/** Keeps ended runs of scenarios in the database. */
import type { Model, ModelCollection } from '../model/index.ts';
import type { RunView } from '../runs/index.ts';
import { appendRecords } from './append.ts';
import type { HistoryLog } from './call-history.ts';
import { openRunHistory, type RunRecord, runRecord } from './run-class.ts';

export interface RunHistoryOptions {
  readonly model: Pick<Model, 'classes' | 'collection'>;
  /** Id of a domain by its name; undefined for a removed one. */
  readonly domainId: (name: string) => string | undefined;
  /** Days that runs are kept; 0: for ever. */
  readonly days: number;
  readonly log: HistoryLog;
}

/** Runs a statement. */
const SET = 100;
/** Milliseconds in which ended runs gather for one statement. */
const GATHER_MS = 10_000;
/** Milliseconds between two attempts while the database is away. */
const RETRY_MS = 2_000;
/** Runs that wait in memory while the database is away; the oldest ones are dropped. */
const MOST_WAITING = 2_000;
/** Milliseconds that a stopping node waits for the database. */
const CLOSE_MS = 2_000;
/** Characters of the JSON of one trace; of a longer one the latest steps are kept. */
const MAX_TRACE = 262_144;

interface Waiting {
  readonly domain: string;
  readonly record: RunRecord;
}

/**
 * Writes runs in sets, some seconds after their end. What waits is in memory: a killed node loses the traces of its last
 * seconds, never a call.
 */
export class RunHistory {
  readonly #options: RunHistoryOptions;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isAway = false;
  #dropped = 0;
  #closed = false;

  constructor(options: RunHistoryOptions) {
    this.#options = options;
  }

  /** A run ended. */
  over(view: RunView): void {
    this.#waiting.push({ domain: view.domain, record: storable(runRecord(view)) });
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#schedule(this.#waiting.length >= SET && !this.#isAway ? 0 : this.#isAway ? RETRY_MS : GATHER_MS);
  }

  /**
   * The runs of a domain for a reader, who finds all that have ended here, unless the database is away.
   * @param domain id
   */
  async collection(domain: string): Promise<ModelCollection> {
    await this.#writing;
    if (this.#waiting.length > 0) await this.#begin();
    return openRunHistory(this.#options.model, domain, this.#options.days);
  }

  /** Writes what waits, for up to two seconds; the rest is lost. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#rest(), late]);
    clearTimeout(timer);
    const lost = this.#waiting.length;
    if (lost > 0) this.#options.log.warn({ runs: lost }, 'traces of runs are lost: the database did not take them');
  }

  async #rest(): Promise<void> {
    await this.#writing;
    await this.#begin();
  }

  #schedule(ms: number): void {
    if ((this.#timer !== undefined && ms > 0) || this.#writing !== undefined || this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#begin(), ms).unref();
  }

  #begin(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#schedule(this.#isAway ? RETRY_MS : GATHER_MS);
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { log } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        const set = this.#waiting.slice(0, SET);
        await this.#store(set);
        const written = new Set(set);
        this.#waiting = this.#waiting.filter((each) => !written.has(each));
      }
      if (this.#isAway) log.info({ dropped: this.#dropped }, 'traces of runs are written again');
      this.#isAway = false;
      this.#dropped = 0;
    } catch (err) {
      if (!this.#isAway) log.warn({ err, waiting: this.#waiting.length }, 'traces of runs wait for the database');
      this.#isAway = true;
    }
  }

  async #store(set: readonly Waiting[]): Promise<void> {
    const { model, days, domainId, log } = this.#options;
    for (const [name, own] of Map.groupBy(set, ({ domain }) => domain)) {
      const domain = domainId(name);
      if (domain === undefined) continue;
      const records = own.map(({ record }) => record);
      await appendRecords(
        () => openRunHistory(model, domain, days),
        records,
        (err, record) => log.error({ err, domain: name, run: record?.id, runs: records.length }, 'a trace is missing'),
      );
    }
  }
}

/** A copy as the database takes it: without U+0000 and lone surrogates, the trace within its limit. */
function storable(record: RunRecord): RunRecord {
  const { trace, children, ...rest } = clean(record) as RunRecord & { readonly trace: readonly object[] };
  let kept = trace;
  while (kept.length > 1 && JSON.stringify(kept).length > MAX_TRACE) kept = kept.slice(Math.ceil(kept.length / 2));
  const nested = JSON.stringify(children ?? null).length > MAX_TRACE ? null : children;
  return { ...rest, trace: kept, children: nested };
}

function clean(value: object): object {
  const text = JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'string' ? each.replaceAll('\0', '').toWellFormed() : each,
  );
  return JSON.parse(text) as object;
}
