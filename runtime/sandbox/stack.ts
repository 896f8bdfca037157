/** Stacks of V8, as authors of scripts are to see them. */

/** Where our own files are. */
const OWN_FILES = new URL('.', import.meta.url).href;
const FRAME = /^ {4}at (?:async )?(?:(.+) \()?(.*:\d+:\d+)\)?$/;

/** A stack without the lines that are not the author's. */
export function ownLines(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(OWN_FILES) && !/<isolated-vm|\bnode:/.test(line))
    .join('\n');
}

/** Its frames, innermost first, with files by their names alone: `helper (menu.ts:9:16)`, or `menu.ts:9:16`. */
export function placesOf(stack: string): readonly string[] {
  return stack.split('\n').flatMap((line) => {
    const [, name, where] = FRAME.exec(line) ?? [];
    if (where === undefined) return [];
    const place = where.replace(/^.*[\\/]/, '');
    return [name === undefined ? place : `${name} (${place})`];
  });
}

/** The stack with its frames elsewhere. @param place gives where a line and a column are */
export function movedPlaces(
  stack: string,
  place: (line: number, column: number) => { readonly line: number; readonly column: number },
): string {
  return stack.replaceAll(/^( {4}at .*):(\d+):(\d+)(\)?)$/gm, (_, before: string, line, column, after: string) => {
    const moved = place(Number(line), Number(column));
    return `${before}:${moved.line}:${moved.column}${after}`;
  });
}
