import type { ServerTransaction } from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import type { Dialog } from './dialog.ts';
import { newId } from './frame-fields.ts';
import type { ReliableProvisional } from './reliable-provisional.ts';

/** A request that came in and was given to an application. */
export interface ServerRecord {
  readonly id: string;
  readonly transaction: ServerTransaction;
  readonly app: AppConnection;
  /** The dialog it came in, or (INVITE, SUBSCRIBE) began. */
  dialog: Dialog | undefined;
  /** The reliable provisional response that waits for its PRACK. */
  reliable: ReliableProvisional | undefined;
}

/** Requests in: those that an application is to answer, and, until their transactions are over, those that have an answer. */
export class ServerBook {
  readonly #unanswered = new Map<string, ServerRecord>();
  readonly #records = new Map<ServerTransaction, ServerRecord>();

  /** Requests without a final response. */
  get size(): number {
    return this.#unanswered.size;
  }

  open(transaction: ServerTransaction, app: AppConnection, dialog: Dialog | undefined): ServerRecord {
    const record: ServerRecord = { id: newId(), transaction, app, dialog, reliable: undefined };
    this.#unanswered.set(record.id, record);
    this.#records.set(transaction, record);
    transaction.onTerminated = () => {
      this.answered(record);
      this.#records.delete(transaction);
    };
    return record;
  }

  /** The request of this id, unless it has its final response. */
  get(id: string): ServerRecord | undefined {
    return this.#unanswered.get(id);
  }

  /** The record of a transaction that is not over. */
  of(transaction: ServerTransaction): ServerRecord | undefined {
    return this.#records.get(transaction);
  }

  /** Requests without a final response. */
  unanswered(): Iterable<ServerRecord> {
    return this.#unanswered.values();
  }

  /** It has its final response. */
  answered(record: ServerRecord): void {
    this.#unanswered.delete(record.id);
    record.reliable?.stop();
    record.reliable = undefined;
  }

  /** It goes on to somebody else, who answers it in place of the application. */
  passedOn(record: ServerRecord): void {
    this.#unanswered.delete(record.id);
  }
}
