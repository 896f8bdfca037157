/**
 * Queues single statements for the PGlite worker. A message carries several, and the next message is sent before the
 * last is answered, so that the worker never waits for the node. Statements run one after another, outside of
 * transactions.
 */
import { SqlError } from '../errors.ts';
import { PreparedStatements } from '../postgres/prepared.ts';
import type { Statement } from '../sql.ts';
import type { TextRow } from '../storage.ts';
import { encode } from '../values.ts';
import { decodeReply, encodeSimple, encodeStatement } from '../wire.ts';
import type { Progress } from './progress.ts';

/** The view of a worker's life that statements need. */
export interface RunsLife {
  readonly progress: Progress;
  /** @param ends end of each statement in `bytes` */
  post(bytes: Uint8Array<ArrayBuffer>, ends: readonly number[]): void;
}

export interface RunsOptions {
  /** The running life. Rejects when none can be started. */
  readonly life: () => Promise<RunsLife>;
  /** Time limit of a statement in milliseconds. */
  readonly limitMs: () => number;
  /** Ends a life after a statement exceeded the limit. */
  readonly onOverrun: (life: RunsLife) => void;
}

interface Run {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly resolve: (rows: readonly TextRow[]) => void;
  readonly reject: (error: Error) => void;
}

/** A statement sent but not answered. */
interface Sent extends Run {
  /** The statement that this one prepares, if it succeeds. */
  readonly prepares: string | undefined;
}

/** Statements per message, and messages in flight. */
const BATCH = 32;
const MESSAGES = 2;
const LOOK_AGAIN_MS = 20;

export class Runs {
  readonly #options: RunsOptions;
  #waiting: Run[] = [];
  #pauses = 0;
  #current: { readonly life: RunsLife; readonly session: Session } | undefined;
  #isStarting = false;
  #onIdle: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  /** @throws StorageError */
  run({ text, values }: Statement): Promise<readonly TextRow[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, values: values.map(encode), resolve, reject });
      this.#pump();
    });
  }

  /** Finishes the sent statements and holds back others until `resume`, while another user has the connection. */
  async pause(): Promise<void> {
    this.#pauses += 1;
    await this.#settled();
  }

  resume(): void {
    this.#pauses -= 1;
    this.#pump();
  }

  /** Resolves when no statement waits or runs. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#isBusy) await this.#settled(true);
  }

  /** The worker's replies to the next sent statements. */
  answered(life: RunsLife, replies: readonly Uint8Array[]): void {
    const session = this.#current?.life === life ? this.#current.session : undefined;
    session?.answered(replies);
    this.#pump();
  }

  /**
   * A life has ended with its thread. Its unstarted statements run in the next life; the others reject with `reason`.
   */
  ended(life: RunsLife, reason: Error): void {
    if (this.#current?.life !== life) return;
    const { session } = this.#current;
    this.#current = undefined;
    const { begun, others } = session.split(life.progress.begun);
    for (const each of begun) each.reject(reason);
    this.#waiting = [...others, ...this.#waiting];
    this.#pump();
  }

  /** Statements that wait to be sent. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Users that have, or wait for, the connection. */
  get users(): number {
    return this.#pauses + (this.#isBusy ? 1 : 0);
  }

  get #isBusy(): boolean {
    return this.#isStarting || (this.#current?.session.size ?? 0) > 0;
  }

  async #settled(whenDrained = false): Promise<void> {
    while (this.#isBusy || (whenDrained && this.#waiting.length > 0)) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  #pump(): void {
    if (!this.#isBusy) for (const each of this.#onIdle.splice(0)) each();
    if (this.#pauses > 0 || this.#waiting.length === 0 || this.#isStarting) return;
    if (this.#current === undefined) {
      void this.#start();
      return;
    }
    const { life, session } = this.#current;
    while (this.#waiting.length > 0 && session.messages < MESSAGES) {
      // While the worker is busy, one larger message is cheaper than two.
      const { bytes, ends } = session.send(this.#waiting.splice(0, BATCH));
      life.post(bytes, ends);
    }
    this.#watch();
  }

  async #start(): Promise<void> {
    this.#isStarting = true;
    try {
      const life = await this.#options.life();
      this.#current = { life, session: new Session() };
    } catch (error) {
      for (const each of this.#waiting.splice(0)) each.reject(error as Error);
    }
    this.#isStarting = false;
    this.#pump();
  }

  /** One timer for all statements: when it fires, it checks the age of the running one. */
  #watch(waitMs = this.#options.limitMs(), suspect?: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#current === undefined || this.#current.session.size === 0) return;
      const { life, session } = this.#current;
      const { begun, elapsedMs } = life.progress;
      const left = this.#options.limitMs() - elapsedMs;
      if (begun <= session.answeredCount) this.#watch();
      else if (left > 0) this.#watch(left);
      // Its answer may have arrived without having been read.
      else if (begun !== suspect) this.#watch(LOOK_AGAIN_MS, begun);
      else this.#options.onOverrun(life);
    }, waitMs);
    this.#timer.unref();
  }
}

/** Statements of one life: the sent ones, and those prepared by the server. */
class Session {
  #sent: Sent[] = [];
  /** Unanswered statements of each message in flight. */
  readonly #left: number[] = [];
  #answered = 0;
  #prepared = new PreparedStatements();
  readonly #ready = new Set<string>();
  readonly #pending = new Set<string>();

  get size(): number {
    return this.#sent.length;
  }

  get answeredCount(): number {
    return this.#answered;
  }

  get messages(): number {
    return this.#left.length;
  }

  /** Sends statements as one message. */
  send(runs: readonly Run[]): { readonly bytes: Uint8Array<ArrayBuffer>; readonly ends: readonly number[] } {
    const statements = runs.map((run) => this.#encode(run));
    this.#left.push(runs.length);
    // A separate buffer, because it is transferred.
    const bytes = new Uint8Array(statements.reduce((size, { length }) => size + length, 0));
    let end = 0;
    const ends = statements.map((statement) => {
      bytes.set(statement, end);
      return (end += statement.length);
    });
    return { bytes, ends };
  }

  answered(replies: readonly Uint8Array[]): void {
    for (const reply of replies) {
      const sent = this.#sent.shift();
      if (sent === undefined) return;
      this.#answered += 1;
      const left = (this.#left[0] ?? 1) - 1;
      if (left === 0) this.#left.shift();
      else this.#left[0] = left;
      const { rows, isParsed, error } = decodeReply(reply);
      if (sent.prepares !== undefined) {
        this.#pending.delete(sent.prepares);
        if (isParsed) this.#ready.add(sent.prepares);
      }
      if (error === undefined) sent.resolve(rows);
      else sent.reject(new SqlError(error));
    }
  }

  /** Splits the unanswered statements into started and unstarted ones. */
  split(begun: number): { readonly begun: readonly Run[]; readonly others: readonly Run[] } {
    const count = Math.max(0, begun - this.#answered);
    return { begun: this.#sent.slice(0, count), others: this.#sent.slice(count) };
  }

  #encode(run: Run): Uint8Array {
    const { text, values } = run;
    const isFull = this.#prepared.isFull && this.#pending.size === 0;
    if (isFull) {
      this.#prepared = new PreparedStatements();
      this.#ready.clear();
    }
    const wanted = this.#prepared.isFull ? undefined : this.#prepared.nameOf(text);
    // Until the server confirms the preparation, further statements with this text run unprepared.
    const name = wanted === undefined || this.#pending.has(wanted) ? '' : wanted;
    const isPrepared = name !== '' && this.#ready.has(name);
    const prepares = name !== '' && !isPrepared ? name : undefined;
    if (prepares !== undefined) this.#pending.add(prepares);
    this.#sent.push({ ...run, prepares });
    const bytes = encodeStatement({ text, values, name, isPrepared });
    return isFull ? Buffer.concat([encodeSimple('deallocate all'), bytes]) : bytes;
  }
}
