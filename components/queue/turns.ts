/** A line whose first callers have their turn. */
import type { ComponentContext } from '../../runtime/runs/index.ts';
import type { Line } from './line.ts';

/** Measures the time from the first turn of a caller until its place is free. */
export function noteTurn({ services, domain, clock, memory }: ComponentContext, line: Line, name: string): void {
  if (memory.has('turn')) return;
  const begun = clock.now();
  memory.set('turn', begun);
  line.onLeave(() => services.queues.served(domain, name, clock.now() - begun));
}

/** Plays music until the caller's turn or the timeout. */
export async function waitForTurn(
  { call, clock, signal, sounds: find }: ComponentContext,
  line: Line,
  { isTurn, milliseconds, sounds }: { isTurn: () => boolean; milliseconds: number; sounds: string | readonly string[] },
): Promise<'turn' | 'time'> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  line.moved = () => {
    if (isTurn()) done.abort();
  };
  const timer =
    milliseconds === Infinity
      ? undefined
      : clock.sleep(Math.max(0, milliseconds), until).then(
          () => done.abort(),
          () => undefined,
        );
  try {
    await call.play(await find(sounds), { signal: until, repeat: Infinity });
  } catch (error) {
    if (!done.signal.aborted || signal.aborted || call.endSignal.aborted) throw error;
  } finally {
    line.moved = () => undefined;
    done.abort();
    await timer;
  }
  return isTurn() ? 'turn' : 'time';
}
