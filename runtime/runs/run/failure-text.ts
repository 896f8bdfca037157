/** Texts about failed runs. */
import type { RunError } from './outcome.ts';

type Failure = Pick<RunError, 'code' | 'message' | 'stack'>;

/** Code of a script's error without a code of its own, most likely a programming mistake. */
const UNFORESEEN = 'script';

/** The error with its place in the author's code: `menu.ts:9:16: Cannot read properties of undefined`. */
export function failureText({ message, stack = [] }: Failure): string {
  const [place] = stack;
  return place === undefined ? message : `${position(place)}: ${message}`;
}

/** The same for readers other than the author; a deliberate error needs no place. */
export function failureTextForOthers(failure: Failure): string {
  return failure.code === UNFORESEEN ? failureText(failure) : failure.message;
}

/** The stack, a line for each call; empty when the place alone is enough. */
export function failureStack({ stack = [] }: Failure): readonly string[] {
  return stack.length < 2 ? [] : stack.map((frame) => `at ${frame}`);
}

function position(frame: string): string {
  return /\(([^()]*)\)$/.exec(frame)?.[1] ?? frame;
}
