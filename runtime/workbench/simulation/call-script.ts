/** Scripts of simulated calls. */
import { asDomainName } from '../../domain-name/index.ts';
import type { CallPort } from '../../runs/index.ts';
import type { ScriptedAnswer } from './answers.ts';
import type { PhoneScripts, Phones } from './phones.ts';
import type { Turn } from './turns.ts';

/** The domain of simulated calls. */
export const SIMULATED_DOMAIN = asDomainName('simulation');
/** Identifiers of one call. */
export interface CallNames {
  readonly callid: string;
  readonly dialogid: string;
}

/** The scenario's own call and its dialog. */
export const SIMULATED_CALL: CallNames = { callid: 'ivr@simulation', dialogid: 'dialog-1' };

/** Script of the other side of a simulated call. Times are milliseconds. */
export interface CallScript {
  /**
   * An incoming call waits for `answer`, an outgoing one for `dial`. A connected one is up: the platform has called the
   * other party. Default `incoming`.
   */
  readonly direction?: 'incoming' | 'outgoing' | 'connected';
  /** Digits of the other party: one entry for each time the scenario listens; an entry may have several digits. */
  readonly presses?: readonly string[];
  /** All actions of the other party, in place of `presses`. */
  readonly turns?: readonly Turn[];
  /** The other party hangs up this long after the call is connected. */
  readonly hangsUpAfter?: number;
  /** Answers of the dialled party. Default: rings at once, answers after a second. */
  readonly dialled?: readonly ScriptedAnswer[];
  /** Answers of the target of a transfer. Default: rings at once, answers after a second. */
  readonly target?: readonly ScriptedAnswer[];
  /** Answers of single numbers, in place of `dialled` and `target`. */
  readonly phones?: PhoneScripts | Phones;
  /** Identifiers of the call; default: `SIMULATED_CALL`. */
  readonly names?: CallNames;
  /** Prefix of its events, when it is not the scenario's first call. */
  readonly label?: string;
  /** The other party hangs up this long after the start of the transfer. */
  readonly hangsUpInTransferAfter?: number;
  /** The dialled number that reached the scenario, and the caller's number. */
  readonly to?: string;
  readonly from?: string;
  /** Called with the words of the other party in a recording, and with its file. */
  readonly onSaid?: (file: string, words: string) => void;
  /** Called with every event, as it happens. */
  readonly onEvent?: (event: CallEvent, call: CallPort) => void;
}

/** An event of the call: an action of the scenario, or a change from outside. */
export interface CallEvent {
  readonly at: number;
  readonly what: string;
  /** The sound played to the other party. */
  readonly sounds?: readonly string[];
}
