/** The saved state of sleeping runs. */
import type { RunProgress } from '../messages.ts';
import type { JournalTurn } from './journal.ts';

/** The saved state of a sleeping run. The host keeps it as text and sends it back with the waking job. */
export interface SavedRun extends RunProgress {
  readonly turns: readonly JournalTurn[];
  /** Factor of the waiting time before it falls asleep. */
  readonly patience: number;
}

/**
 * Writes it as one line, without the first activation, which the host has and which ends the jobs of the first turn.
 */
export function writeSavedRun({ turns: [first, ...rest], ...more }: SavedRun): string {
  const turns = first ? [{ ...first, jobs: first.jobs.slice(0, -1) }, ...rest] : [];
  return JSON.stringify({ turns, ...more });
}

/** @param text of `writeSavedRun`, a line feed, and the first activation */
export function readSavedRun(text: string): SavedRun {
  const end = text.indexOf('\n');
  const { turns, ...more } = JSON.parse(text.slice(0, end)) as SavedRun;
  const [first, ...rest] = turns;
  return { turns: first ? [{ ...first, jobs: [...first.jobs, text.slice(end + 1)] }, ...rest] : [], ...more };
}
