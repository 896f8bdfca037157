/**
 * Dial patterns of routes: `%` is any run of characters (as in filters), `?` exactly one, `\` escapes the next
 * character. All other characters are literal, including `*` and `#`, which can be dialled.
 */

export interface DialPattern {
  /** The only matching text of a pattern without wildcards. */
  readonly exact: string | undefined;
  matches(text: string): boolean;
}

const ANY_RUN = 0;
const ANY_ONE = 1;
type Token = string | typeof ANY_RUN | typeof ANY_ONE;

function tokens(source: string): readonly Token[] {
  const result: Token[] = [];
  const characters = source[Symbol.iterator]();
  for (const character of characters) {
    if (character === '%') result.push(ANY_RUN);
    else if (character === '?') result.push(ANY_ONE);
    else if (character === '\\') result.push(characters.next().value ?? '\\');
    else result.push(character);
  }
  return result;
}

/**
 * Greedy with a single backtracking point: at most pattern length times text length steps, so no pattern can stall a
 * call.
 */
function matchTokens(pattern: readonly Token[], text: readonly string[]): boolean {
  let at = 0;
  let token = 0;
  let lastRun = -1;
  let resumeAt = 0;
  while (at < text.length) {
    const expected = pattern[token];
    if (expected === ANY_RUN) {
      lastRun = token++;
      resumeAt = at;
    } else if (expected === ANY_ONE || (expected !== undefined && expected === text[at])) {
      token++;
      at++;
    } else if (lastRun >= 0) {
      token = lastRun + 1;
      at = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[token] === ANY_RUN) token++;
  return token === pattern.length;
}

/** Compiles a pattern; every text is valid. */
export function dialPattern(source: string): DialPattern {
  const parts = tokens(source);
  if (parts.every((part) => typeof part === 'string')) {
    const exact = parts.join('');
    return { exact, matches: (text) => text === exact };
  }
  return { exact: undefined, matches: (text) => matchTokens(parts, Array.from(text)) };
}
