import type { CallPort } from '../../runs/index.ts';
import type { ScriptedAnswer } from './answers.ts';
import type { PhoneScripts, Phones } from './phones.ts';
import type { Turn } from './turns.ts';

/** Where simulated calls are. */
export const SIMULATED_DOMAIN = 'simulation';
/** What the system calls one call. */
export interface CallNames {
  readonly callid: string;
  readonly dialogid: string;
}

/** The call of the scenario itself, and its dialog. */
export const SIMULATED_CALL: CallNames = { callid: 'ivr@simulation', dialogid: 'dialog-1' };

/** What happens on the other side of a simulated call. Times are milliseconds. */
export interface CallScript {
  /**
   * An incoming call waits for `answer`; an outgoing one for `dial`; a connected one is up, for the platform has called the other
   * party. Default `incoming`.
   */
  readonly direction?: 'incoming' | 'outgoing' | 'connected';
  /** What the other party presses: one entry for each time it is listened to; an entry may hold several digits. */
  readonly presses?: readonly string[];
  /** All that the other party does, in place of `presses`. */
  readonly turns?: readonly Turn[];
  /** The other party hangs up this long after the call is connected. */
  readonly hangsUpAfter?: number;
  /** Answers of the party that is dialled. Default: rings at once, answers after a second. */
  readonly dialled?: readonly ScriptedAnswer[];
  /** Answers of the target of a transfer. Default: rings at once, answers after a second. */
  readonly target?: readonly ScriptedAnswer[];
  /** Answers of single numbers, in place of `dialled` and `target`. */
  readonly phones?: PhoneScripts | Phones;
  /** What the call is called; default: `SIMULATED_CALL`. */
  readonly names?: CallNames;
  /** Put before what happens, when it is not the scenario's first call. */
  readonly label?: string;
  /** The other party hangs up this long after the transfer has begun. */
  readonly hangsUpInTransferAfter?: number;
  /** The number by which the scenario was reached, and the caller's. */
  readonly to?: string;
  readonly from?: string;
  /** Told of the words that the other party says into a recording, with its file. */
  readonly onSaid?: (file: string, words: string) => void;
  /** Told of everything that happens, as it happens. */
  readonly onEvent?: (event: CallEvent, call: CallPort) => void;
}

/** Something the scenario did to the call, or that happened to it. */
export interface CallEvent {
  readonly at: number;
  readonly what: string;
  /** What the other party heard. */
  readonly sounds?: readonly string[];
}
