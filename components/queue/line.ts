/** A caller's place in a line. */
import type { ComponentContext } from '../../runtime/runs/index.ts';
import { ScenarioError } from '../../runtime/language/index.ts';

/** A caller's place in a line. */
export interface Line {
  /** Arrival, milliseconds since the epoch. */
  readonly since: number;
  moved: () => void;
  readonly position: () => number;
  readonly length: () => number;
  /** Seconds that callers in this place wait. @param servers how many callers are served at once; -1: unknown */
  readonly expected: (servers: number) => number;
  readonly leave: () => void;
  /** Called once, when the place is given up. */
  readonly onLeave: (listener: () => void) => void;
}

/** Gives up the place. */
export function giveUp(
  { services: { queues }, domain, run }: ComponentContext,
  name: string,
): { position: number; length: number } {
  queues.leave(domain, name, run);
  return { position: 0, length: queues.length(domain, name) };
}

/** @throws ScenarioError code `queue_full` */
export async function enter(
  { services, domain, run, call, clock, signal }: ComponentContext,
  name: string,
  priority: number,
): Promise<Line> {
  const { queues, runs } = services;
  const leave = (): void => queues.leave(domain, name, run);
  const isNew = queues.position(domain, name, run) === 0;
  const place = await queues.enter(domain, name, {
    run,
    since: clock.now(),
    priority,
    moved: () => undefined,
    left: () => undefined,
  });
  if (!place) throw new ScenarioError('queue_full', `the queue ${name} is full`);
  if (signal.aborted) leave();
  signal.throwIfAborted();
  if (isNew) {
    call.endSignal.addEventListener('abort', leave, { once: true });
    void runs.get(run)?.settled.then(leave);
  }
  const position = (): number => queues.position(domain, name, run);
  return {
    since: place.since,
    set moved(moved: () => void) {
      place.moved = moved;
    },
    position,
    length: () => queues.length(domain, name),
    expected: (servers) => {
      const serving = queues.servingTime(domain, name);
      if (serving === undefined || servers === 0) return -1;
      return Math.round((position() * serving) / servers / 1000);
    },
    leave,
    onLeave: (listener) => {
      place.left = listener;
    },
  };
}
