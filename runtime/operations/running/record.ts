/** Records of operations. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';
import type { Scope } from '../request/target.ts';

/** A milestone of an operation, as `GET /uc/operations/<id>` shows it. */
export interface MilestoneRecord {
  readonly milestone: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly callid?: string;
  readonly dialogid?: string;
  readonly last_response?: string;
}

/** The progress and the end of an operation, readable while it runs and for an hour afterwards. */
export interface OperationRecord {
  readonly id: string;
  readonly domain: DomainName;
  /** The user that started it; absent for a scenario. */
  readonly userid?: string;
  readonly operation: string;
  /** Absent where the operation has none. */
  readonly response_mode?: number;
  readonly startts: number;
  /** Absent while it runs. */
  readonly endts?: number;
  readonly milestones: readonly MilestoneRecord[];
  /** The answer to the caller, and its time; absent before. */
  readonly response?: Value;
  readonly responsets?: number;
  /** How the scenario ended; absent while it runs. */
  readonly outcome?: 'completed' | 'ended' | 'failed' | 'stopped';
  readonly error?: { readonly code: string; readonly message: string; readonly block: string };
  /** How the operation ended: as `fields.result`; without one, `ok` or `error`. Absent while it runs. */
  readonly result?: string;
  /** The answer of the operation's last response mode, whichever was asked for; empty when it failed before that. */
  readonly fields?: Readonly<Record<string, Value>>;
}

/** The names a `mask` may hold, in the order in which they are answered. */
export const RECORD_FIELDS = [
  'id',
  'domain',
  'userid',
  'operation',
  'response_mode',
  'startts',
  'endts',
  'milestones',
  'response',
  'responsets',
  'outcome',
  'error',
  'result',
  'fields',
] as const satisfies readonly (keyof OperationRecord)[];

export const KEEP_MS = 3_600_000;
const MAX_RECORDS = 10_000;

/** Keeps the records of running operations, and of finished ones for an hour. A new record drops expired ones. */
export class OperationRecords {
  readonly #records = new Map<string, OperationRecord>();
  readonly #limit: number;

  constructor(limit = MAX_RECORDS) {
    this.#limit = limit;
  }

  /** @param now milliseconds since the epoch */
  add(record: OperationRecord, now: number): void {
    this.#expire(now);
    this.#records.set(record.id, record);
  }

  update(id: string, change: Partial<OperationRecord>): void {
    const record = this.#records.get(id);
    if (record) this.#records.set(id, { ...record, ...change });
  }

  milestone(id: string, milestone: MilestoneRecord): void {
    const record = this.#records.get(id);
    if (record) this.#records.set(id, { ...record, milestones: [...record.milestones, milestone] });
  }

  /** The record of this id, if it belongs to the domain of the scope, and to the user that the scope names. */
  read(scope: Scope, id: string, now: number): OperationRecord | undefined {
    const record = this.#records.get(id);
    return record && isKept(record, now) && isSeenBy(record, scope) ? record : undefined;
  }

  /** All that the scope may see, oldest first. */
  list(scope: Scope, now: number): readonly OperationRecord[] {
    return [...this.#records.values()].filter((record) => isKept(record, now) && isSeenBy(record, scope));
  }

  get size(): number {
    return this.#records.size;
  }

  #expire(now: number): void {
    let excess = this.#records.size + 1 - this.#limit;
    // Oldest first. Running ones are never dropped: their number is bounded by that of the calls.
    for (const [id, record] of this.#records) {
      if (record.endts === undefined) continue;
      if (isKept(record, now) && excess <= 0) return;
      this.#records.delete(id);
      excess -= 1;
    }
  }
}

function isSeenBy({ domain, userid }: OperationRecord, scope: Scope): boolean {
  if (domain !== scope.domain) return false;
  return scope.ownUserId === undefined || scope.ownUserId === userid;
}

function isKept({ endts }: OperationRecord, now: number): boolean {
  return endts === undefined || endts + KEEP_MS > now;
}
