import ivm from 'isolated-vm';
import { DEFAULT_LIMITS } from '../limits.ts';

/** Where the text begins; before it, its length in 16-bit units. */
const TEXT = 4;
const UNIT = 2;
/** Bytes that a slate has at first: most scripts log little. */
const SMALL = 4096;
/** What a source has in it that writes to the log. One that hides it loses, at worst, the last words of its log. */
const WRITES = /\b(?:log|console)\b/;
/** More than a script may say in one turn. */
const LARGEST = TEXT + UNIT * DEFAULT_LIMITS.messageBytes;

/**
 * What a script wrote to its log in the turn that it is in, in memory that it shares with nobody but inside.js and that outlives its
 * isolate: for a script that does not come to the end of its turn. See `note` in inside.js for the other side.
 */
export class Slate {
  readonly #memory = new SharedArrayBuffer(SMALL, { maxByteLength: LARGEST });
  readonly #copy = new ivm.ExternalCopy(this.#memory);
  readonly #length = new Int32Array(this.#memory, 0, 1);
  readonly #isWanted: boolean;
  #read = 0;

  /** @param source of the script */
  constructor(source: string) {
    this.#isWanted = WRITES.test(source);
  }

  /** For one context; undefined for a script that does not write: handing it over would cost a short one a tenth of its time. */
  handle(): ivm.Copy<SharedArrayBuffer> | undefined {
    return this.#isWanted ? this.#copy.copyInto() : undefined;
  }

  /** It takes more memory than at first, and does not give it back. */
  get hasGrown(): boolean {
    return this.#memory.byteLength > SMALL;
  }

  /** A turn begins; none is in progress. */
  wipe(): void {
    Atomics.store(this.#length, 0, 0);
    this.#read = 0;
  }

  /** What was written since the last look: a JSON list as the script says it at the end of a turn; empty when there is nothing. */
  read(): string {
    const most = (this.#memory.byteLength - TEXT) / UNIT;
    const written = Math.min(Atomics.load(this.#length, 0), most);
    if (written <= this.#read) return '';
    const text = Buffer.from(this.#memory, TEXT + UNIT * this.#read, UNIT * (written - this.#read)).toString('utf16le');
    this.#read = written;
    // Each item has a comma behind it.
    return `[${text.slice(0, -1)}]`;
  }
}
