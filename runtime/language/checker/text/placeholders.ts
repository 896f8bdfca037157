/** Placeholders of other systems that stand for `${...}`. */
import { type Node, isMap, isScalar } from 'yaml';
import type { TemplatePart } from '../../expression/template.ts';
import { scalarText } from './source.ts';

const NAME = String.raw`\s*([A-Za-z]\w*(?:\.\w+)?)\s*`;
const FORMS = new RegExp(
  [
    String.raw`\{\{${NAME}\}\}`,
    String.raw`<%=?${NAME}%>`,
    String.raw`#\{${NAME}\}`,
    String.raw`\$\(${NAME}\)`,
    String.raw`(?<!\$)\{${NAME}\}`,
    String.raw`%${NAME.replaceAll(String.raw`\s*`, '')}%`,
    String.raw`(?<![\w$])\$${NAME.replaceAll(String.raw`\s*`, '')}`,
  ].join('|'),
  'g',
);

/** Starts of placeholders, to skip most texts quickly. */
const SIGNS = /[{<]|%[A-Za-z]|\$[A-Za-z(]/;

export interface Placeholder {
  /** Its offset in the text. */
  readonly start: number;
  /** As it is written, e.g. `{{ask.digits}}`. */
  readonly text: string;
  /** Its meaning: `ask.digits`. */
  readonly name: string;
}

/**
 * The placeholders in a text.
 * @param meant returns the name behind a placeholder's content; undefined: an ordinary text
 */
export function placeholders(text: string, meant: (name: string) => string | undefined): Placeholder[] {
  if (!SIGNS.test(text)) return [];
  return [...text.matchAll(FORMS)].flatMap((match) => {
    const [whole, ...names] = match;
    const name = meant(names.find((each) => each !== undefined) ?? '');
    return name === undefined ? [] : [{ start: match.index, text: whole, name }];
  });
}

/** The suggestion for the value of a name. */
export function forValue(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `write \${${name}} for its value`;
}

/** The only key of a map without a value: `{ask.digits}`, also in double braces. */
export function nameInBraces(node: Node | null): string | undefined {
  const [pair, more] = isMap(node) && node.flow === true ? node.items : [];
  if (!pair || more || pair.value !== null) return undefined;
  if (isMap(pair.key)) return nameInBraces(pair.key);
  return isScalar(pair.key) ? scalarText(pair.key) : undefined;
}

/** The text with blanks in place of its expressions. */
export function withoutExpressions(text: string, parts: readonly TemplatePart[]): string {
  let found = text;
  for (const part of parts)
    if (part.kind === 'expression') {
      const end = part.start + part.source.length;
      found = `${found.slice(0, part.start)}${' '.repeat(part.source.length)}${found.slice(end)}`;
    }
  return found;
}
