import type { RunProgress } from '../messages.ts';
import type { JournalTurn } from './journal.ts';

/** All that is left of a run that sleeps: its host keeps it as text, and it comes back with what wakes the run. */
export interface Dream extends RunProgress {
  readonly turns: readonly JournalTurn[];
  /** How much longer it waited than others before it fell asleep. */
  readonly patience: number;
}

/** A text of one line. The host has the first activation anyway, which ends the jobs of the first turn. */
export function writeDream({ turns: [first, ...rest], ...more }: Dream): string {
  const turns = first ? [{ ...first, jobs: first.jobs.slice(0, -1) }, ...rest] : [];
  return JSON.stringify({ turns, ...more });
}

/** @param text that of `writeDream`, a line feed, and the first activation */
export function readDream(text: string): Dream {
  const end = text.indexOf('\n');
  const { turns, ...more } = JSON.parse(text.slice(0, end)) as Dream;
  const [first, ...rest] = turns;
  return { turns: first ? [{ ...first, jobs: [...first.jobs, text.slice(end + 1)] }, ...rest] : [], ...more };
}
