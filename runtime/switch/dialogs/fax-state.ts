import type { TransitionTable } from '../../transitions/index.ts';

/**
 * What the two phones of a dialog exchange.
 *
 * ```
 * sound ──fax──▶ asking ──agreed──▶ fax ──sound──▶ returning ──agreed──▶ sound
 *   ▲  ▲           │  │              ▲                 │
 *   │  └──refused──┘  └─given-up─┐   └─────refused─────┘
 *   └────────settled──────────  late
 * ```
 *
 * `over` leads from each of them to `ended`.
 *
 * - `asking`: one phone offers a fax, and the other is asked
 * - `late`: the offer was refused without the other phone's answer, which is still to come
 * - `returning`: one phone offers sound, and the other is asked; or the call is about to part the two
 */
export type FaxState = 'sound' | 'asking' | 'late' | 'fax' | 'returning' | 'ended';

/** `fax`, `sound`: that is offered. `given-up`: no answer in time, or the call parts the two. `settled`: the late answer has come. */
export type FaxEvent = 'fax' | 'sound' | 'agreed' | 'refused' | 'given-up' | 'settled' | 'over';

export const FAX_TRANSITIONS: TransitionTable<FaxState, FaxEvent> = {
  sound: { fax: 'asking', over: 'ended' },
  asking: { agreed: 'fax', refused: 'sound', 'given-up': 'late', over: 'ended' },
  late: { settled: 'sound', over: 'ended' },
  fax: { sound: 'returning', over: 'ended' },
  returning: { agreed: 'sound', refused: 'fax', over: 'ended' },
  ended: {},
};
