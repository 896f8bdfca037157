/** Text with `${...}` in it, split into its parts. */

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** `start` is the offset of the expression's first character within the whole text. */
  | { readonly kind: 'expression'; readonly source: string; readonly start: number };

export type TemplateResult = { readonly parts: readonly TemplatePart[] } | { readonly unclosedAt: number };

/** True when the text contains an expression. `$${` is a literal `${`. */
export function hasExpression(text: string): boolean {
  return text.includes('${');
}

/** Splits a text at its expressions; braces and quotes within an expression are respected. */
export function splitTemplate(text: string): TemplateResult {
  const parts: TemplatePart[] = [];
  let literal = '';
  let index = 0;
  while (index < text.length) {
    if (text.startsWith('$${', index)) {
      literal += '${';
      index += 3;
    } else if (text.startsWith('${', index)) {
      const end = endOfExpression(text, index + 2);
      if (end === undefined) return { unclosedAt: index };
      if (literal !== '') parts.push({ kind: 'text', text: literal });
      literal = '';
      parts.push({ kind: 'expression', source: text.slice(index + 2, end), start: index + 2 });
      index = end + 1;
    } else {
      literal += text[index] ?? '';
      index += 1;
    }
  }
  if (literal !== '') parts.push({ kind: 'text', text: literal });
  return { parts };
}

/** Index of the `}` that closes the expression starting at `start`. */
function endOfExpression(text: string, start: number): number | undefined {
  let depth = 0;
  let quote = '';
  for (let index = start; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      if (depth === 0) return index;
      depth -= 1;
    }
  }
  return undefined;
}
