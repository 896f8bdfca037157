/** Quick fixes from the checker's hints. */
import type { Problem } from '../scenario-types.ts';

export interface Fix {
  /** Replaces this much text at the place of the problem, in characters. */
  readonly length: number;
  readonly text: string;
}

/** The fix of a hint such as `did you mean "play"?`. @param line the text from the place of the problem to the end of its line */
export function fixOf({ message, suggestion = '' }: Problem, line: string): Fix | undefined {
  const [, text] = /^did you mean "([^"]+)"\?/.exec(suggestion) ?? [];
  if (text === undefined) return undefined;
  const quoted = [...message.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word).find((word) => line.startsWith(word));
  const word = quoted ?? /^[\w.-]+/.exec(line)?.[0];
  return word === undefined || word === text ? undefined : { length: word.length, text };
}
