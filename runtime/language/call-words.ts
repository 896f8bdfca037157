/** What scenarios and their authors call the parts of a call: shared by the checker, runs and editors. */

/** What is played: a WAV file of the prompt store, a FreeSWITCH tone_stream (teletone) expression, or silence. */
export type PlaySource =
  | { readonly file: string }
  | { readonly tone: string }
  | { readonly silenceMs: number }
  /** Spoken; without a language in that of the node. */
  | { readonly text: string; readonly language?: string };

/** States of a scenario's call, as `call.state` shows them. */
export const CALL_STATES = ['none', 'incoming', 'outgoing', 'connected', 'transferred', 'ended'] as const;
export type CallState = (typeof CALL_STATES)[number];

/**
 * Who ended a scenario's call, as `call.ended_by` shows it. `transfer`: the scenario transferred its opponent; `taken`: somebody
 * else took the opponent over, e.g. by a pickup.
 */
export const CALL_ENDERS = ['opponent', 'scenario', 'external', 'transfer', 'taken', 'failure'] as const;
export type CallEnder = (typeof CALL_ENDERS)[number];
