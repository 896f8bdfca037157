/** Writes the history of calls: first into a journal, then in sets into the database. */
import type { CallFacts, CallHistory as HistoryPort, MediaFacts } from '../callstore/index.ts';
import type { Model } from '../model/index.ts';
import { appendRecords } from './append.ts';
import { openHistory } from './history-class.ts';
import { CallJournal } from './journal.ts';
import { domainsOf, recordOf } from './record.ts';
import { SetWriter } from './set-writer.ts';

export interface CallHistoryOptions {
  readonly model: Pick<Model, 'classes' | 'collection'>;
  /** Id of a domain by its name; undefined for a removed one. */
  readonly domainId: (name: string) => string | undefined;
  /** Ids of the recordings of calls, by id of the call; each with the id of its domain. */
  readonly recordingsOf: (ids: readonly string[]) => Promise<readonly CallRecording[]>;
  /** File of the journal. */
  readonly file: string;
  /** Octets of calls that the journal keeps while the database is away. */
  readonly limit: number;
  /** Days that records are kept; 0: for ever. */
  readonly days: number;
  /** True: calls that went on when an earlier process ended are kept, see `left`; otherwise they are ended as lost. */
  readonly keepsLeft?: boolean;
  readonly log: HistoryLog;
}

export interface CallRecording {
  readonly id: string;
  readonly call: string;
  readonly domainId: string;
}

export interface HistoryLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** State of the history, for `/healthz`. */
export interface HistoryState {
  /** `behind`: ended calls wait for the database longer than usual. `full`: the journal drops calls. */
  readonly state: 'ok' | 'behind' | 'full';
  /** Ended calls that the database does not have yet. */
  readonly waiting: number;
  /** Calls dropped since the start of the node. */
  readonly dropped: number;
}

/** Calls a statement; so many are written at once. On PGlite all others wait for it: 30 ms. */
const SET = 200;
/** Milliseconds that an ended call waits for the figures of its media; the media room waits less. */
const FIGURES_MS = 5_000;
/** Dropped calls are logged at most this often, in milliseconds. */
const WARN_MS = 60_000;

export class CallHistory implements HistoryPort {
  readonly #options: CallHistoryOptions;
  readonly #journal: CallJournal;
  /** Ended calls whose figures are awaited, by id. */
  readonly #counting = new Map<string, Promise<void>>();
  readonly #writer: SetWriter;
  #isFull = false;
  #dropped = 0;
  #warned = Number.NEGATIVE_INFINITY;

  private constructor(options: CallHistoryOptions) {
    this.#options = options;
    this.#journal = CallJournal.open(options.file, options.limit, { keepsLeft: options.keepsLeft === true });
    const { log } = options;
    this.#writer = new SetWriter({
      set: SET,
      waiting: () => this.#journal.waiting,
      write: () => this.#write(),
      written: (wasAway) => {
        if (wasAway) log.info({ dropped: this.#dropped }, 'the history of calls is up to date again');
        this.#isFull = false;
      },
      failed: (err) => {
        const waiting = this.#journal.waiting;
        log.warn({ err, waiting }, 'the history of calls waits in its journal for the database');
      },
    });
    if (this.#journal.waiting > 0) {
      log.info({ calls: this.#journal.waiting }, 'calls of an earlier run are written to the history');
      void this.#writer.flush();
    }
  }

  /** Opens the history; calls that the journal has of an earlier run are written. @throws errors of the file system */
  static open(options: CallHistoryOptions): CallHistory {
    return new CallHistory(options);
  }

  /** Calls that went on when an earlier process ended. */
  get left(): readonly CallFacts[] {
    return this.#journal.left;
  }

  /** A call of an earlier process was lost with it. */
  lost(facts: CallFacts): void {
    this.over({ ...facts, end: { at: Date.now(), by: 'lost', status: null, reason: null } });
  }

  /** Another node has a call of an earlier process, or its record. */
  forget(id: string): void {
    this.#safely(() => this.#journal.forget(id));
  }

  going(facts: CallFacts): void {
    this.#safely(() => this.#journal.going(facts));
  }

  moved(id: string): void {
    this.#safely(() => this.#journal.moved(id));
  }

  over(facts: CallFacts, media?: Promise<readonly (MediaFacts | null)[]>): void {
    this.#safely(() => {
      if (!this.#journal.over(facts)) this.#drop();
    });
    if (media !== undefined) this.#count(facts.id, media);
    this.#writer.added();
  }

  /** Writes what waits now. Never rejects: what cannot be written waits on. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  state(): HistoryState {
    const state = this.#isFull ? 'full' : this.#writer.isAway ? 'behind' : 'ok';
    return { state, waiting: this.#journal.waiting, dropped: this.#dropped };
  }

  /** The records of a domain for a reader, who finds all calls that have ended here. @param domain id */
  async collection(domain: string): ReturnType<typeof openHistory> {
    if (this.#journal.waiting > 0 && !this.#writer.isAway) await this.flush();
    return openHistory(this.#options.model, domain, this.#options.days);
  }

  /** Writes what waits, for up to two seconds; the rest stays in the journal for the next start. */
  async close(): Promise<void> {
    await this.#writer.close();
    this.#journal.close();
  }

  /** Adds the figures of a call once they are known. */
  #count(id: string, media: Promise<readonly (MediaFacts | null)[]>): void {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, FIGURES_MS, undefined).unref();
    });
    const counted = Promise.race([media, late]).then((legs) => {
      clearTimeout(timer);
      this.#counting.delete(id);
      if (legs !== undefined) this.#safely(() => this.#journal.media(id, legs));
    });
    this.#counting.set(id, counted);
  }

  /** A failure of the file system must not fail a call. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (err) {
      if (this.#isQuiet()) return;
      this.#options.log.error({ err, file: this.#options.file }, 'the journal of calls cannot be written');
    }
  }

  #drop(): void {
    this.#isFull = true;
    this.#dropped += 1;
    if (this.#isQuiet()) return;
    this.#options.log.warn(
      { dropped: this.#dropped, waiting: this.#journal.waiting, limit: this.#options.limit },
      'the journal of calls is full: calls that end now are missing in the history until the database is back',
    );
  }

  #isQuiet(): boolean {
    const now = performance.now();
    if (now - this.#warned < WARN_MS) return true;
    this.#warned = now;
    return false;
  }

  /** @throws errors of the storage: what is not written yet stays in the journal */
  async #write(): Promise<void> {
    await Promise.all(this.#counting.values());
    for (;;) {
      const calls = this.#journal.next(SET, (id) => !this.#counting.has(id));
      if (calls.length === 0) return;
      await this.#store(calls);
      this.#safely(() => this.#journal.done(calls.map(({ id }) => id)));
    }
  }

  async #store(calls: readonly CallFacts[]): Promise<void> {
    const recordings = await this.#options.recordingsOf(calls.map(({ id }) => id));
    const domains = new Set(calls.flatMap((facts) => [...domainsOf(facts)]));
    for (const domain of domains) {
      const id = this.#options.domainId(domain);
      if (id === undefined) continue;
      const own = Map.groupBy(
        recordings.filter(({ domainId }) => domainId === id),
        ({ call }) => call,
      );
      const records = calls
        .filter((facts) => domainsOf(facts).has(domain))
        .map((facts) =>
          recordOf(
            facts,
            domain,
            (own.get(facts.id) ?? []).map((recording) => recording.id),
          ),
        );
      const { model, days, log } = this.#options;
      const open = (): ReturnType<typeof openHistory> => openHistory(model, id, days);
      await appendRecords(open, records, (err, record) => {
        if (record === undefined)
          log.error({ err, domain: id, calls: records.length }, 'calls are missing in the history');
        else log.error({ err, domain: id, call: record.id }, 'a call is missing in the history');
      });
    }
  }
}
