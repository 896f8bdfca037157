/** Flowcharts in progress. */
import type { GraphEdge, GraphNode, ScenarioGraph } from './graph.ts';

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

/** A flowchart in progress: as Mermaid, and as a graph of data. */
export class Drawing {
  readonly #lines = ['flowchart TD'];
  readonly #arrows = new Set<string>();
  readonly #nodes: GraphNode[] = [];
  readonly #edges: GraphEdge[] = [];
  #count = 0;

  /** @param id a unique name; default: the next number @param line of a call, counted from 1 */
  node(shape: keyof typeof SHAPES, text: string, id?: string, line?: number): string {
    this.#count += id === undefined ? 1 : 0;
    const name = id ?? `b${this.#count}`;
    const [open, close] = SHAPES[shape];
    const shown = line === undefined ? text : `${text}\nline ${line}`;
    this.#lines.push(`  ${name}${open}${quote(shown)}${close}`);
    const kind = name === 'start' ? 'start' : shape;
    const place = line === undefined ? {} : { line, block: text };
    this.#nodes.push({ id: name, kind, label: text, ...place });
    return name;
  }

  arrows(tails: readonly Tail[], to: string): void {
    for (const { from, label, dashed } of tails) {
      const arrow = `  ${from} ${dashed === true ? '-.->' : '-->'}${label === undefined ? '' : `|${quote(label)}|`} ${to}`;
      if (this.#arrows.has(arrow)) continue;
      this.#arrows.add(arrow);
      this.#lines.push(arrow);
      const more = { ...(label === undefined ? {} : { label }), ...(dashed === true ? { dashed } : {}) } as const;
      this.#edges.push({ from, to, ...more });
    }
  }

  graph(): ScenarioGraph {
    return { nodes: this.#nodes, edges: this.#edges };
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

export function quote(text: string): string {
  const safe = text.replaceAll('"', '#quot;').replaceAll('<', '#lt;').replaceAll('>', '#gt;').replaceAll('\n', '<br>');
  return `"${safe}"`;
}
