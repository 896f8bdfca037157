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
 * The log of a script's current turn, in memory that the isolate shares with this process. It outlives the isolate, so
 * that the log of a turn that never ends is not lost. `bufferLog` in inside.js writes it.
 */
export class LogBuffer {
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
   * Buffer for one context. Undefined for a script that does not log, because passing it takes a tenth of a short
   * script's time.
   */
  handle(): ivm.Copy<SharedArrayBuffer> | undefined {
    return this.#isWanted ? this.#copy.copyInto() : undefined;
  }

  /** True when it has grown beyond its initial size; it does not shrink. */
  get hasGrown(): boolean {
    return this.#memory.byteLength > SMALL;
  }

  /** Empties the buffer before a turn. */
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
