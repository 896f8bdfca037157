import type { ParticipantState } from '../callstore/index.ts';

/** `entering`: asked for the PIN, and not a participant yet. The others as REST shows them. */
export type SeatState = 'entering' | ParticipantState;

const NEXT: Readonly<Record<SeatState, readonly SeatState[]>> = {
  entering: ['connected', 'hold', 'disconnected'],
  calling: ['ringing', 'connected', 'hold', 'disconnected'],
  ringing: ['connected', 'hold', 'disconnected'],
  connected: ['hold', 'disconnected'],
  hold: ['connected', 'disconnected'],
  disconnected: [],
};

/** Whether a participant may go from one state to another. */
export function mayBecome(from: SeatState, to: SeatState): boolean {
  return NEXT[from].includes(to);
}

/** Whether somebody is there, or is just coming in: the room lives as long as this is true of one of its seats. */
export function keepsRoomAlive(
  state: SeatState,
  { invited, scenario = false }: { readonly invited: boolean; readonly scenario?: boolean },
): boolean {
  if (scenario) return false;
  return state === 'connected' || state === 'hold' || (state !== 'disconnected' && !invited);
}
