/**
 * The phases of a run.
 *
 * ```
 * main ──branch_done──▶ finally ──branch_done──▶ finished
 *  │                      ▲  │                      ▲
 *  interrupt     branch_done interrupt              │
 *  ▼                      │  ▼                      │
 * leaving ────────────────┘ aborting ──branch_done──┘
 * ```
 *
 * Without a `finally` branch, `finally` is skipped.
 */
export type RunPhase = 'main' | 'leaving' | 'finally' | 'aborting' | 'finished';

/** `interrupt`: the call ended, the run was stopped, or `finally` took too long. `branch_done`: no block runs any more. */
export type RunEvent = 'interrupt' | 'branch_done';

const TRANSITIONS: Readonly<Record<RunPhase, Readonly<Record<RunEvent, RunPhase>>>> = {
  main: { interrupt: 'leaving', branch_done: 'finally' },
  leaving: { interrupt: 'leaving', branch_done: 'finally' },
  finally: { interrupt: 'aborting', branch_done: 'finished' },
  aborting: { interrupt: 'aborting', branch_done: 'finished' },
  finished: { interrupt: 'finished', branch_done: 'finished' },
};

export function nextPhase(phase: RunPhase, event: RunEvent, hasFinally: boolean): RunPhase {
  const next = TRANSITIONS[phase][event];
  return next === 'finally' && !hasFinally ? 'finished' : next;
}
