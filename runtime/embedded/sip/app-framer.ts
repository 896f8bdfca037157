/** Bytes that are no frame of the app protocol. */
export class AppFrameError extends Error {
  override readonly name = 'AppFrameError';
}

const HASH = 35;
/** `999999#`: a length of seven digits is refused, as drachtio-server does. */
const MAX_LENGTH_DIGITS = 6;
const EMPTY = Buffer.alloc(0);

/** Cuts the byte stream of an application into frames: `<decimal byte count>#<payload>`. */
export class AppFramer {
  #store: Buffer = EMPTY;
  #start = 0;
  #end = 0;

  /**
   * Takes the next bytes.
   * @returns the payloads they complete, in order.
   * @throws AppFrameError when a length is no number of one to six digits. The connection must be closed.
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
        if (at === this.#start || length === 0) throw new AppFrameError('a frame without a length');
        const end = at + 1 + length;
        if (end > this.#end) return undefined;
        this.#start = end;
        return this.#store.subarray(at + 1, end);
      }
      if (byte < 48 || byte > 57) throw new AppFrameError('a length that is no number');
      if (at - this.#start >= MAX_LENGTH_DIGITS)
        throw new AppFrameError(`a length of more than ${MAX_LENGTH_DIGITS} digits`);
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
 * One frame.
 * @param fields the leading line (latin1, without line break).
 * @param head headers of a SIP message that follows after CRLF, and its body.
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
