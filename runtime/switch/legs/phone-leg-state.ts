import type { TransitionTable } from '../../transitions/index.ts';

/**
 * The state of a phone's leg. A caller's leg begins as `ringing`, a called phone's as `answered`.
 *
 * ```
 * ringing ──accept──▶ answering ──accepted──▶ answered
 * ```
 *
 * `over` leads from each of them to `ended`.
 */
export type PhoneLegState = 'ringing' | 'answering' | 'answered' | 'ended';

/** `accept`: this node sends its 200. `accepted`: the SIP dialog with the caller is there. */
export type PhoneLegEvent = 'accept' | 'accepted' | 'over';

export const PHONE_LEG_TRANSITIONS: TransitionTable<PhoneLegState, PhoneLegEvent> = {
  ringing: { accept: 'answering', over: 'ended' },
  answering: { accepted: 'answered', over: 'ended' },
  answered: { over: 'ended' },
  ended: {},
};
