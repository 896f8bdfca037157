import type { DialogStatus } from '../../callstore/index.ts';
import type { TransitionTable } from '../../transitions/index.ts';

/**
 * The state of a dialog.
 *
 * ```
 * forking ──answered──▶ dialog ──left──▶ suspended
 *                         ▲                  │
 *                         └─────returned─────┘
 * ```
 *
 * `over` leads from each of them to `ended`.
 *
 * - `forking`: the A leg and any number of B legs
 * - `dialog`: the A leg and the one B leg that answered
 * - `suspended`: a leg is on its way to another dialog and may come back
 * - `ended`
 */
export type DialogState = DialogStatus | 'suspended' | 'ended';

/** `left`: a leg went to another dialog. `returned`: it is back. */
export type DialogStateEvent = 'answered' | 'left' | 'returned' | 'over';

export const DIALOG_TRANSITIONS: TransitionTable<DialogState, DialogStateEvent> = {
  forking: { answered: 'dialog', over: 'ended' },
  dialog: { left: 'suspended', over: 'ended' },
  suspended: { returned: 'dialog', over: 'ended' },
  ended: {},
};
