/**
 * Frames between the host and a worker process: four bytes with the length of the rest, four with the length of the
 * header (big endian), the header as JSON, and a body that need not be parsed to be forwarded.
 */

const PREFIX = 8;

export interface Frame<Header> {
  readonly header: Header;
  readonly body: string;
}

/** The peer violated the format, or a frame is too long. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export function encodeFrame(header: object, body: string): Buffer {
  const head = JSON.stringify(header);
  const headLength = Buffer.byteLength(head);
  const bodyLength = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(PREFIX + headLength + bodyLength);
  frame.writeUInt32BE(4 + headLength + bodyLength, 0);
  frame.writeUInt32BE(headLength, 4);
  frame.write(head, PREFIX);
  frame.write(body, PREFIX + headLength);
  return frame;
}

/** Splits a byte stream into frames. */
export class FrameReader<Header> {
  readonly #maxLength: number;
  #chunks: Buffer[] = [];
  #length = 0;

  /** @param maxLength largest accepted frame in bytes */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /**
   * The next whole frame, or undefined when more bytes are needed.
   * @throws FrameError
   */
  next(): Frame<Header> | undefined {
    if (this.#length < PREFIX) return undefined;
    const bytes = this.#joinAtLeast(PREFIX);
    const length = bytes.readUInt32BE(0) + 4;
    const headLength = bytes.readUInt32BE(4);
    if (length > this.#maxLength) throw new FrameError(`a frame of ${length} bytes is too long`);
    if (headLength + PREFIX > length) throw new FrameError('a header is longer than its frame');
    if (this.#length < length) return undefined;
    const frame = this.#joinAtLeast(length);
    this.#chunks = frame.length > length ? [frame.subarray(length), ...this.#chunks.slice(1)] : this.#chunks.slice(1);
    this.#length -= length;
    return {
      header: parseHeader(frame.toString('utf8', PREFIX, PREFIX + headLength)) as Header,
      body: frame.toString('utf8', PREFIX + headLength, length),
    };
  }

  /** Merges chunks until the first one has at least `length` bytes, which must have arrived. */
  #joinAtLeast(length: number): Buffer {
    const [first] = this.#chunks;
    if (first && first.length >= length) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function parseHeader(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FrameError('a header is not JSON', { cause: error });
  }
}
