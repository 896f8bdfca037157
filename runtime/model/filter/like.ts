/** LIKE: `%` any text, `_` any one character, `\` escapes the next character. The whole text has to match. */
import { ANY, type Regex, withBothCases } from './regex/ast.ts';
import { compileRegex } from './regex/automaton.ts';

/** Part of a parsed pattern: literal text or a wildcard. */
type Part = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'one' } | { readonly kind: 'many' };

/** @returns undefined when the pattern ends with a backslash */
export function parseLike(pattern: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  const characters = Array.from(pattern);
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === '%') {
      if (parts.at(-1)?.kind !== 'many') parts.push({ kind: 'many' });
    } else if (character === '_') {
      parts.push({ kind: 'one' });
    } else {
      if (character === '\\') index += 1;
      const text = characters[index];
      if (text === undefined) return undefined;
      const last = parts.at(-1);
      if (last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + text };
      else parts.push({ kind: 'text', text });
    }
  }
  return parts;
}

/** The pattern as a regular expression; to ignore case, both cases are listed. */
export function likeToRegex(parts: readonly Part[], ignoreCase: boolean): Regex {
  const items = parts.flatMap((part): Regex[] => {
    if (part.kind === 'one') return [ANY];
    if (part.kind === 'many') return [{ kind: 'repeat', item: ANY, min: 0, max: Infinity }];
    return Array.from(part.text).map((character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      const ranges = [[codePoint, codePoint]] as const;
      return { kind: 'set', ranges: ignoreCase ? withBothCases(ranges) : ranges };
    });
  });
  const anchored: Regex[] = [{ kind: 'assertion', of: 'start' }, ...items, { kind: 'assertion', of: 'end' }];
  return { kind: 'sequence', items: anchored };
}

/** Compiles a pattern to a test with linear run time. */
export function compileLike(parts: readonly Part[], ignoreCase: boolean): (text: string) => boolean {
  const shape = parts.map(({ kind }) => kind).join();
  const literal = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  if (!ignoreCase) {
    if (shape === '' || shape === 'text') return (text) => text === literal;
    if (shape === 'many') return () => true;
    if (shape === 'text,many') return (text) => text.startsWith(literal);
    if (shape === 'many,text') return (text) => text.endsWith(literal);
    if (shape === 'many,text,many') return (text) => text.includes(literal);
  }
  return compileRegex(likeToRegex(parts, ignoreCase));
}
