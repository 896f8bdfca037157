/** Frames of the app protocol. */

/** A byte stream that does not follow the framing of the app protocol. */
export class AppFrameError extends Error {
  override readonly name = 'AppFrameError';
}

const HASH = 35;
/** Up to `999999#`; drachtio-server refuses longer lengths too. */
const MAX_LENGTH_DIGITS = 6;
const EMPTY = Buffer.alloc(0);

/** Splits the byte stream of an application into frames: `<decimal byte count>#<payload>`. */
export class AppFramer {
  #store: Buffer = EMPTY;
  #start = 0;
  #end = 0;

  /**
   * Takes the next bytes.
   * @returns the payloads of the frames that are now complete, in order.
   * @throws AppFrameError when a length is not a number of one to six digits. The connection must then be closed.
   */
  push(chunk: Buffer): Buffer[] {
    this.#append(chunk);
    const frames: Buffer[] = [];
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Buffer | undefined {
    let length = 0;
    for (let at = this.#start; at < this.#end; at += 1) {
      const byte = this.#store[at] as number;
      if (byte === HASH) {
        if (at === this.#start || length === 0) throw new AppFrameError('frame length missing or zero before "#"');
        const end = at + 1 + length;
        if (end > this.#end) return undefined;
        this.#start = end;
        return this.#store.subarray(at + 1, end);
      }
      if (byte < 48 || byte > 57) throw new AppFrameError('frame length is not a decimal number');
      if (at - this.#start >= MAX_LENGTH_DIGITS)
        throw new AppFrameError(`frame length has more than ${MAX_LENGTH_DIGITS} digits`);
      length = length * 10 + byte - 48;
    }
    return undefined;
  }

  #append(chunk: Buffer): void {
    const have = this.#end - this.#start;
    if (have === 0) {
      this.#store = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    if (this.#end + chunk.length > this.#store.length) {
      const grown = Buffer.allocUnsafe(2 * (have + chunk.length));
      this.#store.copy(grown, 0, this.#start, this.#end);
      this.#store = grown;
      this.#start = 0;
      this.#end = have;
    }
    chunk.copy(this.#store, this.#end);
    this.#end += chunk.length;
  }
}

/**
 * Encodes one frame.
 * @param fields the first line (latin1, without line break).
 * @param head start line and headers of a SIP message, which follow after CRLF.
 * @param body of that message.
 */
export function encodeFrame(fields: string, head?: string, body?: Buffer): Buffer {
  const text = head === undefined ? fields : `${fields}\r\n${head}`;
  const bodyLength = body?.length ?? 0;
  const prefix = `${text.length + bodyLength}#`;
  if (body === undefined || bodyLength === 0) return Buffer.from(prefix + text, 'latin1');
  const frame = Buffer.allocUnsafe(prefix.length + text.length + bodyLength);
  frame.write(prefix + text, 0, 'latin1');
  body.copy(frame, prefix.length + text.length);
  return frame;
}
