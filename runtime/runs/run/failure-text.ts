import type { RunError } from './outcome.ts';

type Failure = Pick<RunError, 'code' | 'message' | 'stack'>;

/** Code of what a script threw that has no code of its own: a mistake in it, most likely. */
const UNFORESEEN = 'script';

/** What went wrong, and where in the author's code: `menu.ts:9:16: Cannot read properties of undefined`. */
export function failureText({ message, stack = [] }: Failure): string {
  const [place] = stack;
  return place === undefined ? message : `${position(place)}: ${message}`;
}

/** The same for others than the author: what is thrown on purpose says what it has to say. */
export function failureTextForOthers(failure: Failure): string {
  return failure.code === UNFORESEEN ? failureText(failure) : failure.message;
}

/** How it came there, a line each; none when the place says it all. */
export function failureStack({ stack = [] }: Failure): readonly string[] {
  return stack.length < 2 ? [] : stack.map((frame) => `at ${frame}`);
}

function position(frame: string): string {
  return /\(([^()]*)\)$/.exec(frame)?.[1] ?? frame;
}
