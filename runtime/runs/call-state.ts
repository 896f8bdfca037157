import type { CallState } from '../language/index.ts';
import { StateMachine, type TransitionTable } from '../transitions/index.ts';
import { CallStateError } from './call-port.ts';

/**
 * `transfer`, `forward`: the scenario gives its opponent away, after or before an answer. `returned`, `unreached`: that failed,
 * and the opponent is back.
 */
export type CallStateEvent = 'call' | 'answered' | 'transfer' | 'returned' | 'forward' | 'unreached' | 'over';

/**
 * The states of a scenario's call. The switch and the simulation follow the same table.
 *
 * ```
 * none ──call──▶ outgoing ──answered──▶ connected ──transfer──▶ transferred ──unreached──▶ incoming
 *                                         ▲   ▲                  │       ▲                 │     │
 *                                         │   └─────returned─────┘       └─────forward─────┘     │
 *                                         └───────────────────────answered───────────────────────┘
 * ```
 *
 * `over` leads from each of them to `ended`.
 */
export const CALL_TRANSITIONS: TransitionTable<CallState, CallStateEvent> = {
  none: { call: 'outgoing', over: 'ended' },
  incoming: { answered: 'connected', forward: 'transferred', over: 'ended' },
  outgoing: { answered: 'connected', over: 'ended' },
  connected: { transfer: 'transferred', over: 'ended' },
  transferred: { returned: 'connected', unreached: 'incoming', over: 'ended' },
  ended: {},
};

/** The state of one scenario's call, which refuses what the state does not allow. */
export class ScenarioCallState extends StateMachine<CallState, CallStateEvent> {
  /** @param initial `incoming` for the scenario that is called, `none` for one that may call */
  constructor(initial: CallState) {
    super(CALL_TRANSITIONS, initial);
  }

  /**
   * Refuses an operation in every other state.
   * @param operation as the error names it
   * @throws CallStateError
   */
  require(operation: string, state: CallState): void {
    if (!this.is(state)) throw this.#refusal(operation);
  }

  /**
   * Takes the event of an operation.
   * @param operation as the error names it
   * @throws CallStateError where the table does not list the event
   */
  take(event: CallStateEvent, operation: string): void {
    if (this.step(event) === undefined) throw this.#refusal(operation);
  }

  #refusal(operation: string): CallStateError {
    return new CallStateError(operation, this.state);
  }
}
