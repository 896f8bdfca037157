/** An arrow without a head yet: its source and label. */
export interface Tail {
  readonly from: string;
  readonly label?: string;
  readonly dashed?: boolean;
}

/** Mermaid shapes, by meaning: https://mermaid.js.org/syntax/flowchart.html. */
const SHAPES = {
  step: ['[', ']'],
  choice: ['{', '}'],
  end: ['([', '])'],
  event: ['{{', '}}'],
  function: ['[[', ']]'],
} as const;

/** A Mermaid flowchart in progress. */
export class Drawing {
  readonly #lines = ['flowchart TD'];
  readonly #arrows = new Set<string>();
  #count = 0;

  /** @param id a unique name; default: the next number */
  node(shape: keyof typeof SHAPES, text: string, id?: string): string {
    this.#count += id === undefined ? 1 : 0;
    const name = id ?? `b${this.#count}`;
    const [open, close] = SHAPES[shape];
    this.#lines.push(`  ${name}${open}${quote(text)}${close}`);
    return name;
  }

  arrows(tails: readonly Tail[], to: string): void {
    for (const { from, label, dashed } of tails) {
      const arrow = `  ${from} ${dashed === true ? '-.->' : '-->'}${label === undefined ? '' : `|${quote(label)}|`} ${to}`;
      if (this.#arrows.has(arrow)) continue;
      this.#arrows.add(arrow);
      this.#lines.push(arrow);
    }
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

export function quote(text: string): string {
  const safe = text.replaceAll('"', '#quot;').replaceAll('<', '#lt;').replaceAll('>', '#gt;').replaceAll('\n', '<br>');
  return `"${safe}"`;
}
