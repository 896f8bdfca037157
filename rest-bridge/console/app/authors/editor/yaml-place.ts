/** Where a position is in a YAML text: the keys above it, by indentation. Enough for completion, also in an unfinished text. */

export interface YamlPlace {
  /** Keys from the root to the map at the position. */
  readonly path: readonly string[];
  /** Keys of that map, without the one being typed. */
  readonly siblings: readonly string[];
  /** The key whose value is typed; undefined where a key is typed. */
  readonly key: string | undefined;
  /** What is typed of the word. */
  readonly word: string;
}

const KEY = /^( *)(?:- +)?("?)([\w.-]+)\2:(?: |$)/;

/** @param text up to its end @param offset of the cursor; undefined in a comment or a place without completion */
export function placeOf(text: string, offset: number): YamlPlace | undefined {
  const before = text.slice(0, offset).split('\n');
  const line = before.at(-1) ?? '';
  const typed = /^( *)(?:- +)?(?:([\w.-]+): +)?([\w.-]*)$/.exec(line);
  if (typed === null) return undefined;
  const [, indent = '', key, word = ''] = typed;
  const own = before.length - 1;
  return { ...around(text.split('\n'), own, indent.length), key, word };
}

function around(lines: readonly string[], own: number, indent: number): Pick<YamlPlace, 'path' | 'siblings'> {
  const path: string[] = [];
  const siblings: string[] = [];
  let level = indent;
  for (let at = own - 1; at >= 0; at -= 1) {
    const found = KEY.exec(lines[at] ?? '');
    if (found === null) continue;
    const [, spaces = '', , name = ''] = found;
    if (spaces.length === indent && level === indent) siblings.push(name);
    if (spaces.length >= level) continue;
    level = spaces.length;
    path.unshift(name);
  }
  for (let at = own + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, spaces = '', , name] = KEY.exec(line) ?? [];
    const depth = name === undefined ? line.length - line.trimStart().length : spaces.length;
    if (depth < indent) break;
    if (depth === indent && name !== undefined) siblings.push(name);
  }
  return { path, siblings };
}
