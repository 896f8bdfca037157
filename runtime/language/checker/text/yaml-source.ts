/** Parses YAML scenario files, with limits of size and nesting, and explains syntax errors to authors. */
import { CST, Lexer, type Node, isAlias, isScalar, parseDocument, visit } from 'yaml';
import { Source } from './source.ts';

/** The largest scenario file, in characters. */
export const MAX_SOURCE_LENGTH = 1_000_000;
/** Limit of nested `[` and `{`, and of indentation: the parser recurses, and is slow at great depth. */
const MAX_FLOW_DEPTH = 64;
const MAX_INDENT = 256;

/** Marks that the lexer puts between tokens (its `CST` constants); they are not in the text. */
const { SCALAR, DOCUMENT, FLOW_END } = CST;
const CONTROL: ReadonlySet<string> = new Set([SCALAR, DOCUMENT, FLOW_END]);

/** A parsed scenario file. */
export class YamlSource extends Source {
  readonly root: Node | null;

  constructor(text: string, file: string) {
    super(text, file);
    this.root = this.#parse();
  }

  #parse(): Node | null {
    if (this.text.length > MAX_SOURCE_LENGTH) {
      this.problem(null, `the file has ${this.text.length} characters, more than ${MAX_SOURCE_LENGTH}`);
      return null;
    }
    const tooDeep = this.#tooDeepAt();
    if (tooDeep !== undefined) {
      this.problemAt(tooDeep, 'lists and maps nest too deep here');
      return null;
    }
    // The parser compares each key of a map with all others: 30,000 keys took a minute.
    const document = parseDocument(this.text, { prettyErrors: false, uniqueKeys: false });
    // One mistake causes several parser errors; the first is the useful one.
    const [slip] = document.errors;
    for (const { pos, code, message } of slip ? [slip] : document.warnings) {
      const start = isUnclosed(code, message) ? lastQuoted(document.contents, pos[0]) : pos[0];
      this.problemAt(start, yamlMessage(code, message), this.#yamlSuggestion(code, start));
    }
    if (slip) return null;
    this.#refuseDoubleKeys(document.contents);
    this.#refuseAliases(document.contents);
    return document.contents;
  }

  #refuseDoubleKeys(contents: Node | null): void {
    visit(contents, {
      Map: (_, { items }) => {
        const keys = new Set<unknown>();
        for (const { key } of items) {
          if (!isScalar(key)) continue;
          if (keys.has(key.value)) this.problem(key, 'this key appears twice', 'keep one of them');
          keys.add(key.value);
        }
      },
    });
  }

  /** The place where nesting exceeds the limit; `-` and `?` at the start of a line nest as well. */
  #tooDeepAt(): number | undefined {
    const indented = new RegExp(`^(?: |[-?:](?=[ \\n])){${MAX_INDENT},}`, 'm').exec(this.text);
    if (indented) return indented.index;
    // Few brackets cannot nest deeply.
    if ((this.text.match(/[[{]/g)?.length ?? 0) <= MAX_FLOW_DEPTH) return undefined;
    let depth = 0;
    let offset = 0;
    let afterScalar = false;
    for (const token of new Lexer().lex(this.text)) {
      if (!afterScalar && (token === '[' || token === '{')) depth += 1;
      if (!afterScalar && (token === ']' || token === '}')) depth -= 1;
      if (depth > MAX_FLOW_DEPTH) return offset;
      afterScalar = token === SCALAR;
      if (!CONTROL.has(token)) offset += token.length;
    }
    return undefined;
  }

  #refuseAliases(contents: Node | null): void {
    if (contents === null || !/[&*]/.test(this.text)) return;
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
    if (code === 'BAD_SCALAR_START') return 'put quotes around this text';
    const lineStart = this.text.lastIndexOf('\n', offset - 1) + 1;
    const lineEnd = this.text.indexOf('\n', offset);
    const line = this.text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
    // The parser notices an unclosed text a line later, or at the end of the file.
    const before = this.text.slice(this.text.lastIndexOf('\n', lineStart - 2) + 1, Math.max(0, lineStart - 1));
    const [, name, rest] = code === 'MISSING_CHAR' ? (/^\s*(?:- )?(\w+)\s+([^\s:]+)\s*$/.exec(line) ?? []) : [];
    if (name !== undefined) return `a colon is missing: write ${name}: ${rest}`;
    if (code === 'MISSING_CHAR' && /^\s*\w+:\S/.test(line)) return 'put a blank behind the colon';
    if (code === 'BLOCK_AS_IMPLICIT_KEY') {
      const next = this.text.slice(lineEnd + 1).split('\n', 1)[0] ?? '';
      if (lineEnd >= 0 && /^\s*[\w"*#]+:(\s|$)/.test(next) && next.search(/\S/) > line.search(/\S/))
        return 'the next line is indented deeper: write both equally deep';
      const [, key, entry] = /^\s*(exits|set|on|starts|limits):\s+(\S.*)$/.exec(line) ?? [];
      if (key !== undefined) return `write ${key}: { ${entry?.trim()} }`;
    }
    if (/"[^"]*\$\{[^}"]*"[^\s,}\]]/.test(line))
      return `within "..." put texts of an expression into '...': "\${call.number == '101'}"`;
    // Quoted texts may contain anything.
    const bare = `${before}\n${line}`.replaceAll(/"[^"\n]*"|'[^'\n]*'/g, '""');
    if (/[{,[][^}\n]*[:[,]\s*#/.test(bare)) return 'put quotes around #: what follows it is a comment';
    if (/[{[].*\$\{/.test(bare)) return 'inside { } and [ ] put quotes around a text with ${...}';
    if (/[{,[]\s*[*#&!%@`][^"']*:|:\s*[#&!%@`]/.test(`${before}\n${line}`))
      return 'put quotes around * and #, e.g. "*": BLOCK';
    if (/[:,]\s+[{[][^{}[\]]*[}\]]\s*[^\s,}\]#]/.test(line)) return 'put quotes around a text that begins with { or [';
    return SUGGESTIONS[code];
  }
}

/** Suggestions for parser errors, by code. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'put quotes around a text that holds ": ", and braces around settings: { NAME: ... }',
  BLOCK_IN_FLOW: 'put commas between the entries within { }',
  TAB_AS_INDENT: 'indent with spaces',
  MULTILINE_IMPLICIT_KEY: 'a colon may be missing at the end of the line, as in answer:',
  BAD_INDENT: 'indent it as the lines it belongs to, and close { and [',
  MISSING_CHAR: 'close it on the same line',
  MULTIPLE_DOCS: 'write one scenario into one file, without ---',
};

function isUnclosed(code: string, message: string): boolean {
  return code === 'MISSING_CHAR' && message.startsWith('Missing closing');
}

/** Start of the last quoted text: an unclosed text goes on to the end of the file. */
function lastQuoted(contents: Node | null, end: number): number {
  let found: number | undefined;
  visit(contents, {
    Scalar: (_, { type, range }) => {
      if ((type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') && range) found = Math.max(found ?? 0, range[0]);
    },
  });
  return found ?? end;
}

function yamlMessage(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'the file holds more than one document';
  const text = message.replace(/(["'])quote$/, '$1 quote');
  return `not valid YAML: ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
