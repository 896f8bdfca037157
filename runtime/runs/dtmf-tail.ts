/**
 * The DTMF tail of a dialled number (specification, "POST / INVITE": "the first one starts a DTMF tail sent after
 * answer, every later one is a 1-second pause").
 */

export type TailStep =
  | { readonly kind: 'digits'; readonly digits: string }
  | { readonly kind: 'pause'; readonly ms: number };

export interface DialString {
  readonly number: string;
  /** Digits and pauses after the answer, in order; empty without a tail. */
  readonly tail: readonly TailStep[];
}

/** Pause of each separator after the first one (specification, "Limits"). */
const TAIL_PAUSE_MS = 1000;

const SEPARATORS = new Set(["'", ',']);

/** Splits a dialled string into the number and its DTMF tail: `100,12''3` dials 100, then sends 12, waits 2 s, sends 3. */
export function splitDtmfTail(to: string): DialString {
  const start = to.search(/[',]/);
  if (start < 0) return { number: to, tail: [] };
  return { number: to.slice(0, start), tail: parseTail(to.slice(start + 1)) };
}

/** The steps of a DTMF sequence; every `'` or `,` is a pause of one second. */
export function parseTail(sequence: string): TailStep[] {
  const steps: TailStep[] = [];
  let digits = '';
  const flush = (): void => {
    if (digits !== '') steps.push({ kind: 'digits', digits });
    digits = '';
  };
  for (const character of sequence) {
    if (SEPARATORS.has(character)) {
      flush();
      steps.push({ kind: 'pause', ms: TAIL_PAUSE_MS });
    } else {
      digits += character;
    }
  }
  flush();
  return steps;
}
