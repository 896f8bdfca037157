/**
 * One statement over the extended query protocol (PostgreSQL manual, "Message Flow"), for pg's clients. Rows stay text,
 * and the column types are known, so the server is not asked to describe them.
 */
import type { Connection, Submittable } from 'pg';
import type { TextRow } from '../storage.ts';
import { encodeStatement } from '../wire.ts';

/** Undeclared interface between pg's client and a query; pg-cursor relies on it too. */
interface ClientConnection extends Connection {
  /** Prepared texts by name, including requested ones. */
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
}

export interface TextQueryOptions {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Prepares the statement under this name, or uses the prepared one; undefined: unprepared. */
  readonly name: string | undefined;
}

export type TextQueryDone = (error: Error | null, rows: readonly TextRow[]) => void;

export class TextQuery implements Submittable {
  readonly text: string;
  /** The client notes it once the server has prepared it. */
  readonly name: string | undefined;
  readonly #values: readonly (string | null)[];
  readonly #rows: TextRow[] = [];
  readonly #done: TextQueryDone;
  #isDone = false;

  /** @param done called once; the client may then get its next query */
  constructor({ text, values, name }: TextQueryOptions, done: TextQueryDone) {
    this.text = text;
    this.name = name;
    this.#values = values;
    this.#done = done;
  }

  submit(plain: Connection): void {
    const connection = plain as ClientConnection;
    const { name, text } = this;
    const isPrepared =
      name !== undefined && (connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === text;
    if (name !== undefined && !isPrepared) connection.submittedNamedStatements[name] = text;
    connection.stream.write(encodeStatement({ text, values: this.#values, name: name ?? '', isPrepared }));
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleError(error: Error): void {
    this.#finish(error);
  }

  handleReadyForQuery(): void {
    this.#finish(null);
  }

  // Other messages are ignored.
  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  #finish(error: Error | null): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#done(error, this.#rows);
  }
}
