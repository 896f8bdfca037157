import { nearest } from '../words/index.ts';

/** A mistake in a scenario file: its place, a message, and a suggestion. */
export interface Problem {
  readonly file: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion?: string;
  /** `warning`: a likely mistake, but the scenario can run. Without it the problem is a mistake. */
  readonly severity?: 'warning';
}

export function isMistake({ severity }: Problem): boolean {
  return severity === undefined;
}

/** `file:line:col: message (suggestion)`, which editors and terminals make clickable. */
export function formatProblem(problem: Problem): string {
  const suggestion = problem.suggestion === undefined ? '' : `; ${problem.suggestion}`;
  const kind = problem.severity === undefined ? '' : 'warning: ';
  return `${problem.file}:${problem.line}:${problem.column}: ${kind}${problem.message}${suggestion}`;
}

/** `did you mean "x"?`, or the list of known names when none is similar and the list is short. */
export function suggestName(word: string, candidates: readonly string[]): string | undefined {
  const found = nearest(word, candidates);
  if (found !== undefined) return `did you mean "${found}"?`;
  return candidates.length > 0 && candidates.length <= 20 ? `there is: ${candidates.join(', ')}` : undefined;
}
