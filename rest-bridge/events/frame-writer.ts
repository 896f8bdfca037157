/**
 * Text frames of a WebSocket (RFC 6455 section 5.2) on their way out. What is written within one turn of the event loop goes
 * in one piece: a system call for each frame costs more than everything else about it.
 */
import type { Duplex } from 'node:stream';

const waiting = new Set<FrameWriter>();

function flushAll(): void {
  const writers = [...waiting];
  waiting.clear();
  for (const writer of writers) writer.flush();
}

export class FrameWriter {
  readonly #stream: Duplex;
  #texts: string[] = [];
  #length = 0;

  /** @param stream the connection below a WebSocket without compression */
  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** Bytes that the other side has not taken; of what waits for the end of this turn, at least. */
  get waitingBytes(): number {
    return this.#length + this.#stream.writableLength;
  }

  write(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (waiting.size === 0) setImmediate(flushAll);
    waiting.add(this);
  }

  /** Now; before the socket itself writes, so that everything keeps its order. */
  flush(): void {
    const texts = this.#texts;
    this.#texts = [];
    this.#length = 0;
    waiting.delete(this);
    if (texts.length > 0 && this.#stream.writable) this.#stream.write(frames(texts));
  }
}

const MAX_HEAD = 10;

function frames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size + MAX_HEAD, 0));
  let end = 0;
  texts.forEach((text, index) => {
    end = writeHead(bytes, end, sizes[index] ?? 0);
    end += bytes.write(text, end);
  });
  return bytes.subarray(0, end);
}

/** FIN and opcode 1 (text), the length in 1, 3 or 9 octets, no mask: a server sends none. Returns where it ends. */
function writeHead(bytes: Buffer, at: number, size: number): number {
  let end = bytes.writeUInt8(0x81, at);
  if (size < 126) return bytes.writeUInt8(size, end);
  if (size < 65_536) {
    end = bytes.writeUInt8(126, end);
    return bytes.writeUInt16BE(size, end);
  }
  end = bytes.writeUInt8(127, end);
  return bytes.writeBigUInt64BE(BigInt(size), end);
}
