/** The saved state of sleeping runs. */
import type { RunProgress } from '../messages.ts';
import type { JournalTurn } from './journal.ts';

/** The saved state of a sleeping run. The host keeps it as text and sends it back with the waking job. */
export interface Dream extends RunProgress {
  readonly turns: readonly JournalTurn[];
  /** Factor of the waiting time before it falls asleep. */
  readonly patience: number;
}

/**
 * Writes it as one line, without the first activation, which the host has and which ends the jobs of the first turn.
 */
export function writeDream({ turns: [first, ...rest], ...more }: Dream): string {
  const turns = first ? [{ ...first, jobs: first.jobs.slice(0, -1) }, ...rest] : [];
  return JSON.stringify({ turns, ...more });
}

/** @param text of `writeDream`, a line feed, and the first activation */
export function readDream(text: string): Dream {
  const end = text.indexOf('\n');
  const { turns, ...more } = JSON.parse(text.slice(0, end)) as Dream;
  const [first, ...rest] = turns;
  return { turns: first ? [{ ...first, jobs: [...first.jobs, text.slice(end + 1)] }, ...rest] : [], ...more };
}
