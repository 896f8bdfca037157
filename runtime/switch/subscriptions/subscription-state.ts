import type { TransitionTable } from '../../transitions/index.ts';

/**
 * What a subscription does about the state of its resource. It begins as `idle`.
 *
 * ```
 * idle ──change──▶ sending ──answered──▶ resting ──rested──▶ idle
 *                     │change               │change
 *                     ▼                     ▼
 *                  changed ──answered────▶ due ──rested──▶ sending
 * ```
 *
 * A NOTIFY that fails for now (`failed`) leads from `sending` and `changed` to `due`, so the last state is always sent. `over`
 * leads from each of them to `ended`.
 */
export type NotifyState = 'idle' | 'sending' | 'changed' | 'resting' | 'due' | 'ended';

/** `answered`, `failed`: the NOTIFY on its way. `rested`: the time between two NOTIFYs is over. */
export type NotifyEvent = 'change' | 'answered' | 'failed' | 'rested' | 'over';

export const NOTIFY_TRANSITIONS: TransitionTable<NotifyState, NotifyEvent> = {
  idle: { change: 'sending', over: 'ended' },
  sending: { change: 'changed', answered: 'resting', failed: 'due', over: 'ended' },
  changed: { answered: 'due', failed: 'due', over: 'ended' },
  resting: { change: 'due', rested: 'idle', over: 'ended' },
  due: { rested: 'sending', over: 'ended' },
  ended: {},
};
