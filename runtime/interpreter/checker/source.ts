import { createHash } from 'node:crypto';
import { CST, Lexer, type Node, type Pair, Scalar, type YAMLMap, isAlias, isScalar, parseDocument, visit } from 'yaml';
import type { Problem } from '../problem.ts';

/** The largest scenario file, in characters. */
export const MAX_SOURCE_LENGTH = 1_000_000;
/** How deep `[` and `{` may nest, and how far a line may be indented: the parser recurses, slowly when it is very deep. */
const MAX_FLOW_DEPTH = 64;
const MAX_INDENT = 256;

/** Marks that the lexer puts between tokens (its `CST` constants); they are not in the text. */
const { SCALAR, DOCUMENT, FLOW_END } = CST;
const CONTROL: ReadonlySet<string> = new Set([SCALAR, DOCUMENT, FLOW_END]);

/** One `key: value` of a map. */
export interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
}

/** A parsed scenario file that collects the mistakes found in it. */
export class Source {
  readonly file: string;
  readonly root: Node | null;
  /** Offsets at which the lines start. */
  readonly #lines: readonly number[];
  readonly #text: string;
  readonly #problems: Problem[] = [];

  constructor(text: string, file: string) {
    this.#text = text;
    this.file = file;
    this.#lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    this.root = this.#parse();
  }

  /** Problems in the order of their position. */
  get problems(): readonly Problem[] {
    return this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Notes a mistake at a node, or at the start of the file when there is none. */
  problem(node: Node | null, message: string, suggestion?: string): void {
    this.problemAt(node?.range?.[0] ?? 0, message, suggestion);
  }

  /** Notes what is likely a mistake, but can run. */
  warning(node: Node | null, message: string, suggestion?: string): void {
    this.problemAt(node?.range?.[0] ?? 0, message, suggestion, 'warning');
  }

  /** Notes a mistake at a character of the file. */
  problemAt(offset: number, message: string, suggestion?: string, severity?: 'warning'): void {
    const { line, column } = this.position(offset);
    this.#problems.push({
      file: this.file,
      line,
      column,
      message,
      ...(severity === undefined ? {} : { severity }),
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }

  /** Notes a mistake at a character of a scalar's text: exact for text on one line, else the scalar's start. */
  problemInScalar(scalar: Scalar, index: number, message: string, suggestion?: string): void {
    const start = scalar.range?.[0] ?? 0;
    const exact =
      scalar.type === Scalar.PLAIN || scalar.type === Scalar.QUOTE_DOUBLE || scalar.type === Scalar.QUOTE_SINGLE;
    const quote = scalar.type === Scalar.PLAIN ? 0 : 1;
    const end = scalar.range?.[1] ?? start;
    const offset = exact && start + quote + index < end ? start + quote + index : start;
    this.problemAt(offset, message, suggestion);
  }

  /** Line and column of a character, both from 1. */
  position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#lines[low] ?? 0) + 1 };
  }

  /** Tells one text of the file from another. */
  get version(): string {
    return createHash('sha256').update(this.#text).digest('hex').slice(0, 12);
  }

  line(node: Node): number {
    return this.position(node.range?.[0] ?? 0).line;
  }

  /** The entries of a map; keys that are no text are mistakes and left out. */
  entries(map: YAMLMap): Entry[] {
    return map.items.flatMap((pair) => this.#entry(pair as Pair<Node, Node | null>));
  }

  #entry({ key, value }: Pair<Node, Node | null>): Entry[] {
    if (isScalar(key) && (typeof key.value === 'string' || typeof key.value === 'number')) {
      return [
        { key: typeof key.value === 'number' ? (key.source ?? String(key.value)) : key.value, keyNode: key, value },
      ];
    }
    this.problem(key, 'this key is no text', 'put it in quotes');
    return [];
  }

  #parse(): Node | null {
    if (this.#text.length > MAX_SOURCE_LENGTH) {
      this.problem(null, `the file has ${this.#text.length} characters, more than ${MAX_SOURCE_LENGTH}`);
      return null;
    }
    const tooDeep = this.#tooDeepAt();
    if (tooDeep !== undefined) {
      this.problemAt(tooDeep, 'lists and maps nest too deep here');
      return null;
    }
    const document = parseDocument(this.#text, { prettyErrors: false });
    const isSyntax = ({ code }: { code: string }): boolean => code !== 'DUPLICATE_KEY';
    // One slip makes the parser complain several times; the first complaint is the useful one.
    const [slip] = document.errors.filter(isSyntax);
    const found = slip ? [slip] : [...document.errors, ...document.warnings];
    for (const { pos, code, message } of found) {
      this.problemAt(pos[0], yamlMessage(code, message), this.#yamlSuggestion(code, pos[0]));
    }
    if (slip) return null;
    this.#refuseAliases(document.contents);
    return document.contents;
  }

  /** Where nesting goes beyond what is sensible; `-` and `?` at the start of a line nest as well. */
  #tooDeepAt(): number | undefined {
    const indented = new RegExp(`^(?: |[-?:](?=[ \\n])){${MAX_INDENT},}`, 'm').exec(this.#text);
    if (indented) return indented.index;
    // Few brackets cannot nest deep, wherever they are.
    if ((this.#text.match(/[[{]/g)?.length ?? 0) <= MAX_FLOW_DEPTH) return undefined;
    let depth = 0;
    let offset = 0;
    let afterScalar = false;
    for (const token of new Lexer().lex(this.#text)) {
      if (!afterScalar && (token === '[' || token === '{')) depth += 1;
      if (!afterScalar && (token === ']' || token === '}')) depth -= 1;
      if (depth > MAX_FLOW_DEPTH) return offset;
      afterScalar = token === SCALAR;
      if (!CONTROL.has(token)) offset += token.length;
    }
    return undefined;
  }

  #refuseAliases(contents: Node | null): void {
    if (contents === null) return;
    visit(contents, {
      Node: (_, node) => {
        if (isAlias(node))
          this.problem(
            node,
            'aliases (*name) are not allowed',
            'write the value out, or quote a text that starts with *',
          );
        else if (node.anchor !== undefined)
          this.problem(node, 'anchors (&name) are not allowed', 'quote a text that starts with &');
      },
    });
  }

  #yamlSuggestion(code: string, offset: number): string | undefined {
    if (code === 'DUPLICATE_KEY') return 'keep one of them';
    const lineStart = this.#text.lastIndexOf('\n', offset - 1) + 1;
    const lineEnd = this.#text.indexOf('\n', offset);
    const line = this.#text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
    if (/[{[].*\$\{/.test(line)) return 'inside { } and [ ] put quotes around a text with ${...}';
    if (code === 'BLOCK_AS_IMPLICIT_KEY') return 'put quotes around a text that holds ": "';
    return undefined;
  }
}

/** A scalar's value as text; numbers and booleans as written in JSON. */
export function scalarText({ value }: Scalar): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function yamlMessage(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'this key is here twice';
  return `not valid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}
