/** Names of the parts of a call in the scenario language: shared by the checker, runs and editors. */

/** A sound to play: a WAV file, a FreeSWITCH tone_stream (teletone) expression, or silence. */
export type PlaySource =
  /** `name`: as the author wrote it, where the file has another one. */
  | { readonly file: string; readonly name?: string }
  | { readonly tone: string }
  | { readonly silenceMs: number }
  /** A spoken text; without a language, the node's language is used. */
  | { readonly text: string; readonly language?: string };

/** States of a scenario's call, as `call.state` shows them. */
export const CALL_STATES = ['none', 'incoming', 'outgoing', 'connected', 'transferred', 'ended'] as const;
export type CallState = (typeof CALL_STATES)[number];

/**
 * The party that ended a scenario's call, as `call.ended_by` shows it. `transfer`: the scenario transferred its opponent.
 * `taken`: another user took the opponent over, e.g. by a pickup.
 */
export const CALL_ENDERS = ['opponent', 'scenario', 'external', 'transfer', 'taken', 'failure'] as const;
export type CallEnder = (typeof CALL_ENDERS)[number];
