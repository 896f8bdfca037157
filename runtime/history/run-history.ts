/** Keeps ended runs of scenarios in the database. */
import type { Model, ModelCollection } from '../model/index.ts';
import type { RunView } from '../runs/index.ts';
import { appendRecords } from './append.ts';
import type { HistoryLog } from './call-history.ts';
import { openRunHistory, type RunRecord, runRecord } from './run-class.ts';
import { SetWriter } from './set-writer.ts';

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
/** Runs that wait in memory while the database is away; the oldest ones are dropped. */
const MOST_WAITING = 2_000;
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
  readonly #writer: SetWriter;
  #waiting: Waiting[] = [];
  #dropped = 0;

  constructor(options: RunHistoryOptions) {
    this.#options = options;
    const { log } = options;
    this.#writer = new SetWriter({
      set: SET,
      waiting: () => this.#waiting.length,
      write: () => this.#write(),
      written: (wasAway) => {
        if (wasAway) log.info({ dropped: this.#dropped }, 'traces of runs are written again');
        this.#dropped = 0;
      },
      failed: (err) => log.warn({ err, waiting: this.#waiting.length }, 'traces of runs wait for the database'),
    });
  }

  /** A run ended. */
  over(view: RunView): void {
    this.#waiting.push({ domain: view.domain, record: storable(runRecord(view)) });
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#writer.added();
  }

  /**
   * The runs of a domain for a reader, who finds all that have ended here, unless the database is away.
   * @param domain id
   */
  async collection(domain: string): Promise<ModelCollection> {
    await this.flush();
    return openRunHistory(this.#options.model, domain, this.#options.days);
  }

  /** Writes what waits, for readers at any node. Never rejects. */
  async flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.#writer.flush();
  }

  /** Writes what waits, for up to two seconds; the rest is lost. */
  async close(): Promise<void> {
    await this.#writer.close();
    const lost = this.#waiting.length;
    if (lost > 0) this.#options.log.warn({ runs: lost }, 'traces of runs are lost: the database did not take them');
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const set = this.#waiting.slice(0, SET);
      await this.#store(set);
      const written = new Set(set);
      this.#waiting = this.#waiting.filter((each) => !written.has(each));
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
