/** States of channels and calls. */

/** The channel states that the server uses, with FreeSWITCH's numbers. */
export const CHANNEL_STATES = {
  CS_NEW: 0,
  CS_INIT: 1,
  CS_ROUTING: 2,
  CS_SOFT_EXECUTE: 3,
  CS_EXECUTE: 4,
  CS_EXCHANGE_MEDIA: 5,
  CS_PARK: 6,
  CS_HANGUP: 10,
  CS_REPORTING: 11,
} as const;
export type ChannelStateName = keyof typeof CHANNEL_STATES;

/** Call states with FreeSWITCH's numbers. */
export const CALL_STATES = { DOWN: 0, RINGING: 2, EARLY: 3, ACTIVE: 4, HELD: 5, HANGUP: 7, UNHELD: 8 } as const;
export type CallStateName = keyof typeof CALL_STATES;

/** The allowed next call states. */
const FOLLOWERS: Readonly<Record<CallStateName, readonly CallStateName[]>> = {
  DOWN: ['RINGING', 'HANGUP'],
  RINGING: ['EARLY', 'ACTIVE', 'HANGUP'],
  EARLY: ['ACTIVE', 'HANGUP'],
  ACTIVE: ['HELD', 'RINGING', 'HANGUP'], // RINGING again while a transferred call is routed
  HELD: ['UNHELD', 'RINGING', 'HANGUP'],
  UNHELD: ['HELD', 'RINGING', 'HANGUP'],
  HANGUP: [],
};

/** Whether call state `to` may follow `from`. */
export function mayFollow(from: CallStateName, to: CallStateName): boolean {
  return FOLLOWERS[from].includes(to);
}
