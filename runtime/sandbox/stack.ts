/** Converts V8's stacks for script authors. */

/** Folder of our own files. */
const OWN_FILES = new URL('.', import.meta.url).href;
const FRAME = /^ {4}at (?:async )?(?:(.+) \()?(.*:\d+:\d+)\)?$/;

/** A stack without internal frames. */
export function ownLines(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(OWN_FILES) && !/<isolated-vm|\bnode:/.test(line))
    .join('\n');
}

/** Frames, innermost first, with file names only: `helper (menu.ts:9:16)`, or `menu.ts:9:16`. */
export function placesOf(stack: string): readonly string[] {
  return stack.split('\n').flatMap((line) => {
    const [, name, where] = FRAME.exec(line) ?? [];
    if (where === undefined) return [];
    const place = where.replace(/^.*[\\/]/, '');
    return [name === undefined ? place : `${name} (${place})`];
  });
}

/** The stack with mapped positions. @param place maps a line and a column */
export function movedPlaces(
  stack: string,
  place: (line: number, column: number) => { readonly line: number; readonly column: number },
): string {
  return stack.replaceAll(/^( {4}at .*):(\d+):(\d+)(\)?)$/gm, (_, before: string, line, column, after: string) => {
    const moved = place(Number(line), Number(column));
    return `${before}:${moved.line}:${moved.column}${after}`;
  });
}
