/** Incoming requests of applications. */
import type { ServerTransaction } from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import type { Dialog } from './dialog.ts';
import { newId } from './frame-fields.ts';
import type { ReliableProvisional } from './reliable-provisional.ts';

/** An incoming request that an application got. */
export interface IncomingRequest {
  readonly id: string;
  readonly transaction: ServerTransaction;
  readonly app: AppConnection;
  /** The dialog of the request, or the one that it began (INVITE, SUBSCRIBE). */
  dialog: Dialog | undefined;
  /** The reliable provisional response that waits for its PRACK. */
  reliable: ReliableProvisional | undefined;
}

/** Incoming requests that applications got, kept until their transactions end. */
export class IncomingRequests {
  readonly #unanswered = new Map<string, IncomingRequest>();
  readonly #records = new Map<ServerTransaction, IncomingRequest>();

  /** Requests without a final response. */
  get size(): number {
    return this.#unanswered.size;
  }

  open(transaction: ServerTransaction, app: AppConnection, dialog: Dialog | undefined): IncomingRequest {
    const record: IncomingRequest = { id: newId(), transaction, app, dialog, reliable: undefined };
    this.#unanswered.set(record.id, record);
    this.#records.set(transaction, record);
    transaction.onTerminated = () => {
      this.answered(record);
      this.#records.delete(transaction);
    };
    return record;
  }

  /** The request with this id, unless it has its final response. */
  get(id: string): IncomingRequest | undefined {
    return this.#unanswered.get(id);
  }

  /** The record of a transaction that has not ended. */
  of(transaction: ServerTransaction): IncomingRequest | undefined {
    return this.#records.get(transaction);
  }

  /** Requests without a final response. */
  unanswered(): Iterable<IncomingRequest> {
    return this.#unanswered.values();
  }

  /** Notes that the request has its final response. */
  answered(record: IncomingRequest): void {
    this.#unanswered.delete(record.id);
    record.reliable?.stop();
    record.reliable = undefined;
  }

  /** Notes that the request was forwarded, so that its responses come from elsewhere. */
  forwarded(record: IncomingRequest): void {
    this.#unanswered.delete(record.id);
  }
}
