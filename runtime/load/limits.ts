/** The bounds of a load: whatever is asked, a run ends by itself. */

/** Most calls of a run. */
export const MAX_CALLS = 100_000;
/** Longest time in which calls start, seconds. */
export const MAX_SECONDS = 3600;
/** Highest rate of starts, calls a second. */
export const MAX_RATE = 1000;
/** Most calls at once; each takes two sockets for sound, or one when it calls a scenario. */
export const MAX_LIVE = 5000;
/** Longest time that a call talks, seconds. */
export const MAX_TALK_S = 600;
/** Longest time that the called phone rings before it answers, seconds. */
export const MAX_RING_S = 60;
/** Shortest time to talk in which sound can be heard both ways, milliseconds. */
export const MIN_SOUND_TALK_MS = 300;
/** Longest wait for the expected sound beyond the time to talk, milliseconds. */
export const SOUND_GRACE_MS = 3000;
/** Longest time of a call beyond its time to ring and to talk, milliseconds: unanswered messages, missing sound. */
export const LAST_CALL_MS = 120_000;
