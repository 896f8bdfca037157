/** Parses the commands of event socket clients. */

/** Longest header block, in octets, of one command. */
const MAX_HEADER_BYTES = 65_536;

/** Largest number of octets of a body. */
const MAX_BODY_BYTES = 1_048_576;

/** The client's bytes are not a command: the connection is closed after the reply. */
export class EslFrameError extends Error {
  override readonly name = 'EslFrameError';
}

/** One command of a client: `api status`, `sendmsg <uuid>` with its headers, ... */
export interface EslCommand {
  /** First line, without line end. */
  readonly line: string;
  /** Headers by lower-case name; the last one of a name counts. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body, decoded as UTF-8. */
  readonly body: string;
}

/**
 * Splits the byte stream of an event socket client into commands: lines up to an empty line, then a body of
 * Content-Length octets. Lines end with LF; a CR before it is dropped. The stream may be cut anywhere.
 */
export class EslCommandParser {
  #pending: Buffer = Buffer.alloc(0);
  /** Position where the search for the end of the header block continues. */
  #searched = 0;
  #head: { line: string; headers: Map<string, string>; bodyLength: number } | undefined;

  /** Octets of an incomplete command. */
  get buffered(): number {
    return this.#pending.length;
  }

  /**
   * Takes the next piece of the stream.
   *
   * @returns the commands completed by it, in order
   * @throws EslFrameError when the header block or body is too large, or Content-Length is not a number. Commands
   *   before the mistake are delivered first.
   */
  push(piece: Uint8Array, deliver: (command: EslCommand) => void): void {
    this.#pending = this.#pending.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#pending, piece]);
    for (;;) {
      if (this.#head === undefined && !this.#readHead()) return;
      const head = this.#head;
      if (head === undefined || this.#pending.length < head.bodyLength) return;
      const body = this.#pending.toString('utf8', 0, head.bodyLength);
      this.#drop(head.bodyLength);
      this.#head = undefined;
      if (head.line !== '') deliver({ line: head.line, headers: head.headers, body });
    }
  }

  #readHead(): boolean {
    const end = this.#findEmptyLine();
    if (end === undefined) {
      if (this.#pending.length > MAX_HEADER_BYTES) throw new EslFrameError('command longer than 64 KiB');
      return false;
    }
    if (end.start > MAX_HEADER_BYTES) throw new EslFrameError('command longer than 64 KiB');
    const lines = this.#pending.toString('utf8', 0, end.start).split('\n');
    this.#drop(end.next);
    this.#head = parseHead(lines);
    return true;
  }

  #findEmptyLine(): { start: number; next: number } | undefined {
    for (let from = Math.max(0, this.#searched - 3); ; ) {
      const lineEnd = this.#pending.indexOf(0x0a, from);
      if (lineEnd < 0) break;
      const second = this.#pending[lineEnd + 1];
      if (second === 0x0a) return { start: lineEnd, next: lineEnd + 2 };
      if (second === 0x0d && this.#pending[lineEnd + 2] === 0x0a) return { start: lineEnd, next: lineEnd + 3 };
      // Empty lines before a command are skipped, as in FreeSWITCH.
      if (lineEnd === 0 || (lineEnd === 1 && this.#pending[0] === 0x0d)) return { start: 0, next: lineEnd + 1 };
      from = lineEnd + 1;
    }
    this.#searched = this.#pending.length;
    return undefined;
  }

  #drop(count: number): void {
    // A copy: a view would keep the whole chunk in memory while a slow client sends the next one.
    this.#pending = count >= this.#pending.length ? Buffer.alloc(0) : Buffer.from(this.#pending.subarray(count));
    this.#searched = 0;
  }
}

function parseHead(lines: readonly string[]): { line: string; headers: Map<string, string>; bodyLength: number } {
  const headers = new Map<string, string>();
  for (const raw of lines.slice(1)) {
    const colon = raw.indexOf(':');
    if (colon <= 0) continue;
    headers.set(raw.slice(0, colon).trim().toLowerCase(), raw.slice(colon + 1).trim());
  }
  const announced = headers.get('content-length') ?? '0';
  if (!/^\d{1,7}$/.test(announced) || Number(announced) > MAX_BODY_BYTES) {
    throw new EslFrameError(`Content-Length ${JSON.stringify(announced.slice(0, 20))} is no number up to 1 MiB`);
  }
  return { line: (lines[0] ?? '').trimEnd(), headers, bodyLength: Number(announced) };
}
