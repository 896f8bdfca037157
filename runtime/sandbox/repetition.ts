/** Limits of what a script may have done to be repeated at another node. */

/** Exceeded by a script that cannot be repeated any more. */
export type RepetitionLimit = 'characters' | 'turns' | 'processorMs';

export const REPETITION: Readonly<Record<RepetitionLimit, number>> = {
  /** Of JSON that it was given: arguments, answers, events. */
  characters: 32_768,
  turns: 200,
  /** Milliseconds of processor time. */
  processorMs: 500,
};

const WORDS: Readonly<Record<RepetitionLimit, string>> = {
  characters: 'was given more than N characters of JSON',
  turns: 'has gone on more than N times',
  processorMs: 'has used more than N ms of processor time',
};

/** `was given more than 32768 characters of JSON`. */
export function repetitionText(limit: RepetitionLimit): string {
  return WORDS[limit].replace('N', String(REPETITION[limit]));
}
