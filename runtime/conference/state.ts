/** States of participants. */
import type { ParticipantState } from '../callstore/index.ts';

/** `entering`: asked for the PIN, not a participant yet. The others as in REST. */
export type SeatState = 'entering' | ParticipantState;

const NEXT: Readonly<Record<SeatState, readonly SeatState[]>> = {
  entering: ['connected', 'hold', 'disconnected'],
  calling: ['ringing', 'connected', 'hold', 'disconnected'],
  ringing: ['connected', 'hold', 'disconnected'],
  connected: ['hold', 'disconnected'],
  hold: ['connected', 'disconnected'],
  disconnected: [],
};

/** True when the transition is permitted. */
export function mayBecome(from: SeatState, to: SeatState): boolean {
  return NEXT[from].includes(to);
}

/** True while present or entering: the room lives as long as one of its seats does. */
export function keepsRoomAlive(
  state: SeatState,
  { invited, scenario = false }: { readonly invited: boolean; readonly scenario?: boolean },
): boolean {
  if (scenario) return false;
  return state === 'connected' || state === 'hold' || (state !== 'disconnected' && !invited);
}
