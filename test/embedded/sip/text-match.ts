/** Identifiers that the server makes up, and where they stand. Everything else must be equal. */
const TOKENS = new RegExp(
  [
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', // message, transaction and call ids
    '(?<=\\|)\\d\\d:\\d\\d:\\d\\d\\.\\d{6}', // time of day
    'z9hG4bK[A-Za-z0-9.-]{13,}', // branches
    '(?<=tag=)[A-Za-z0-9]{13}(?![A-Za-z0-9])', // tags
    '(?<=CSeq: )\\d{9}', // CSeq numbers of this side
    '(?<=RSeq: )\\d+',
    '(?<=RAck: )\\d+',
    '(?<=\\|(?:network|application)\\|)[1-9]\\d*(?=\\|)', // sizes
  ].join('|'),
  'g',
);

/** Blanks before a Content-Length's number: a message is forwarded either as it came or written anew. */
function normalise(text: string): string {
  return text.replace(/Content-Length: +/g, 'Content-Length: ');
}

/** Matches text against a recording, learning which identifier here stands for which one there. */
export class Matcher {
  readonly #actual = new Map<string, string>();

  /**
   * Compares and remembers.
   * @returns `undefined` if it matches, else the recorded text with the identifiers known so far put in.
   */
  match(recorded: string, actual: string): string | undefined {
    const expected = normalise(recorded);
    const found: string[] = [];
    let pattern = '';
    let at = 0;
    for (const token of expected.matchAll(TOKENS)) {
      pattern += escape(expected.slice(at, token.index));
      at = token.index + token[0].length;
      const known = this.#actual.get(token[0]);
      if (known !== undefined) pattern += escape(known);
      else {
        found.push(token[0]);
        pattern += classOf(token[0]);
      }
    }
    pattern += escape(expected.slice(at));
    const match = new RegExp(`^${pattern}$`, 's').exec(normalise(actual));
    if (match === null) return this.translate(expected);
    for (const [index, token] of found.entries()) this.#learn(token, match[index + 1] ?? '');
    return undefined;
  }

  /** Recorded text with this run's identifiers. */
  translate(text: string): string {
    return text.replace(TOKENS, (token) => this.#actual.get(token) ?? token);
  }

  /** Whether every branch that the server made up for this text is known. */
  knows(text: string): boolean {
    const branch = /^Via: .*?branch=(z9hG4bK[A-Za-z0-9.-]{13,})/m.exec(text)?.[1];
    return branch === undefined || this.#actual.has(branch);
  }

  #learn(recorded: string, actual: string): void {
    if (recorded.includes(':') || /^\d{1,4}$/.test(recorded)) return;
    this.#actual.set(recorded, actual);
    // Requests that follow count on from the first CSeq.
    if (!/^\d{9}$/.test(recorded)) return;
    for (let i = 1; i <= 10; i += 1) this.#actual.set(String(Number(recorded) + i), String(Number(actual) + i));
  }
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function classOf(token: string): string {
  if (/^\d\d:/.test(token)) return '(\\d\\d:\\d\\d:\\d\\d\\.\\d{6})';
  if (/^[1-9]\d*$/.test(token)) return '([1-9]\\d*)';
  if (token.startsWith('z9hG4bK')) return '(z9hG4bK[A-Za-z0-9.-]+)';
  if (token.includes('-')) return '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})';
  return '([A-Za-z0-9]+)';
}
