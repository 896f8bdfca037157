/** A journal of pending INVITEs for the next process. */
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readJsonLines } from '../json-lines/index.ts';

/** An INVITE without a final answer: the data for cancelling it after a restart. */
export interface RingingInvite {
  /** Transaction id in the SIP server. */
  readonly transaction: string;
  /** Name of the SIP server that sent it. */
  readonly server?: string | undefined;
  readonly uri: string;
  readonly nextHop?: string;
  /** The headers that a CANCEL shares with its INVITE (RFC 3261 section 9.1); Via is absent during a DNS look-up. */
  readonly via?: string;
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  readonly cseq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A request without a final answer. */
interface Unsettled {
  readonly transaction: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Line<Entry> = { readonly sent: Entry } | { readonly settled: string };

/** Bytes after which the file is rewritten with the pending entries only. */
const COMPACT_BYTES = 1_048_576;
/** Milliseconds after which nothing rings any more: see the `Expires` of our INVITEs. */
const OUTDATED_MS = 3_600_000;

/**
 * Pending INVITEs in a file, so that the node can settle them after having been killed: ringing phones, or waiting
 * callers. Writes go to the system's cache, which survives the process, but not the machine.
 */
export class RingingJournal<Entry extends Unsettled = RingingInvite> {
  readonly #file: string;
  readonly #ringing = new Map<string, Entry>();
  #descriptor: number;
  #bytes = 0;
  #closed = false;
  /** Learns of what begins and ends from now on. */
  mirror: { sent(invite: Entry): void; settled(transaction: string): void } | undefined;

  private constructor(file: string, left: readonly Entry[]) {
    this.#file = file;
    for (const invite of left) this.#ringing.set(invite.transaction, invite);
    this.#descriptor = this.#rewrite();
  }

  /**
   * Opens the journal of a node that may have been killed.
   * @throws errors of the file system, except for a missing file
   */
  static open<Entry extends Unsettled = RingingInvite>(file: string): RingingJournal<Entry> {
    mkdirSync(dirname(file), { recursive: true });
    return new RingingJournal(file, readLeft<Entry>(file, Date.now()));
  }

  /** Number of pending INVITEs, including those of an earlier process. */
  get ringing(): readonly Entry[] {
    return [...this.#ringing.values()];
  }

  sent(invite: Entry): void {
    this.#ringing.set(invite.transaction, invite);
    this.#write({ sent: invite });
    this.mirror?.sent(invite);
  }

  settled(transaction: string): void {
    if (!this.#ringing.delete(transaction)) return;
    this.#write({ settled: transaction });
    this.mirror?.settled(transaction);
  }

  /** Stops recording. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#descriptor);
  }

  #write(line: Line<Entry>): void {
    if (this.#closed) return;
    this.#bytes += writeSync(this.#descriptor, `${JSON.stringify(line)}\n`);
    if (this.#bytes < COMPACT_BYTES) return;
    closeSync(this.#descriptor);
    this.#descriptor = this.#rewrite();
  }

  /** Written to a temporary file and renamed, because the process may end at any moment. */
  #rewrite(): number {
    const lines = [...this.#ringing.values()].map((sent) => `${JSON.stringify({ sent })}\n`);
    writeFileSync(`${this.#file}.new`, lines.join(''));
    renameSync(`${this.#file}.new`, this.#file);
    this.#bytes = 0;
    return openSync(this.#file, 'a');
  }
}

function readLeft<Entry extends Unsettled>(file: string, now: number): Entry[] {
  const ringing = new Map<string, Entry>();
  // A half-written last line: that INVITE had been sent less than a millisecond before the end.
  for (const line of readJsonLines<Line<Entry>>(file)) {
    if ('settled' in line) ringing.delete(line.settled);
    else if (now - line.sent.at < OUTDATED_MS) ringing.set(line.sent.transaction, line.sent);
  }
  return [...ringing.values()];
}
