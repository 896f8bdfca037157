/** Log buffers shared with scripts. */
import ivm from 'isolated-vm';
import { DEFAULT_LIMITS } from '../limits.ts';

/** Offset of the text, after its length in 16-bit units. */
const TEXT = 4;
const UNIT = 2;
/** Initial size in bytes: most scripts log little. */
const SMALL = 4096;
/** Pattern of sources that write to the log. A script that evades it loses, at worst, its last log entries. */
const WRITES = /\b(?:log|console)\b/;
/** Largest size, more than a script may log in one turn. */
const LARGEST = TEXT + UNIT * DEFAULT_LIMITS.messageBytes;

/**
 * The log of a script's current turn, in memory shared with inside.js only, which outlives the isolate: for a turn that
 * never ends. See `note` in inside.js for the other side.
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

  /**
   * Buffer of one context; undefined for a script that does not log: passing it would cost a short one a tenth of its
   * time.
   */
  handle(): ivm.Copy<SharedArrayBuffer> | undefined {
    return this.#isWanted ? this.#copy.copyInto() : undefined;
  }

  /** It grows beyond its initial size, and does not shrink. */
  get hasGrown(): boolean {
    return this.#memory.byteLength > SMALL;
  }

  /** A turn begins; no other is in progress. */
  wipe(): void {
    Atomics.store(this.#length, 0, 0);
    this.#read = 0;
  }

  /** The log since the last check, as a JSON list in the form of the turn's output; possibly empty. */
  read(): string {
    const most = (this.#memory.byteLength - TEXT) / UNIT;
    const written = Math.min(Atomics.load(this.#length, 0), most);
    if (written <= this.#read) return '';
    const text = Buffer.from(this.#memory, TEXT + UNIT * this.#read, UNIT * (written - this.#read)).toString('utf16le');
    this.#read = written;
    // Each item ends with a comma.
    return `[${text.slice(0, -1)}]`;
  }
}
