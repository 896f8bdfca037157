/** Session timers (RFC 4028). */
import { decimal, type SipMessage, type SipRequest, type SipResponse, type Timers } from '../stack/index.ts';
import type { Dialog } from './dialog.ts';

/** The shortest allowed session interval, seconds (RFC 4028 section 4). */
export const MIN_SE = 90;
/** Largest random shift of a refresh, ms to either side: dialogs that began together are refreshed apart. */
const JITTER = 5000;

/** The Session-Expires of a message. */
interface SessionExpires {
  readonly seconds: number;
  /** The side of the transaction that refreshes; undefined if not given. */
  readonly refresher: 'uac' | 'uas' | undefined;
}

/** Actions of the server when a timer fires. */
export interface SessionTimerEvents {
  /** Half the interval has passed: this side has to send a re-INVITE. */
  refresh(dialog: Dialog, seconds: number): void;
  /** The far end did not refresh the session in time. */
  expired(dialog: Dialog): void;
}

/**
 * Session timers of INVITE dialogs (RFC 4028). As in drachtio-server they run without the application. The side named
 * in Session-Expires of the last INVITE or UPDATE refreshes the session.
 */
export class SessionTimers {
  readonly #timers: Timers;
  readonly #events: SessionTimerEvents;

  constructor(timers: Timers, events: SessionTimerEvents) {
    this.#timers = timers;
    this.#events = events;
  }

  /** Takes the far end's 200 to an INVITE of this side. Without Session-Expires nothing changes. */
  accepted(dialog: Dialog, response: SipResponse): void {
    const session = sessionExpires(response);
    if (session !== undefined) this.#set(dialog, session.seconds, session.refresher === 'uas' ? 'them' : 'us');
  }

  /**
   * Takes an INVITE or UPDATE of the far end within the dialog: its Session-Expires replaces the agreed one.
   * @returns false when the interval is too small; the caller refuses the request with 422 and Min-SE.
   */
  offered(dialog: Dialog, request: SipRequest): boolean {
    const weRefreshed = dialog.session?.refresher === 'us';
    dialog.endSession();
    const session = sessionExpires(request);
    if (session === undefined) return true;
    if (session.seconds < MIN_SE) return false;
    const theirs = session.refresher === undefined ? weRefreshed : session.refresher === 'uac';
    this.#set(dialog, session.seconds, theirs ? 'them' : 'us');
    return true;
  }

  /**
   * Session-Expires of the 200 to an initial INVITE, for an application that gives none. As in drachtio-server, an
   * offer without `refresher` is not accepted.
   */
  answerTo(invite: SipRequest): string | undefined {
    const session = sessionExpires(invite);
    if (session?.refresher === undefined) return undefined;
    return `${Math.max(session.seconds, MIN_SE)};refresher=${session.refresher}`;
  }

  /** Takes the 200 that this side sent to an INVITE or UPDATE. */
  answered(dialog: Dialog, response: SipResponse): void {
    const session = sessionExpires(response);
    if (session !== undefined) this.#set(dialog, session.seconds, session.refresher === 'uas' ? 'us' : 'them');
  }

  /** Sets the timer again after a refresh that crossed a re-INVITE of the far end (491). */
  again(dialog: Dialog, seconds: number): void {
    this.#set(dialog, seconds, 'us');
  }

  #set(dialog: Dialog, given: number, refresher: 'us' | 'them'): void {
    dialog.endSession();
    // The floor keeps the far end from making this side send a re-INVITE every second.
    const seconds = Math.max(given, MIN_SE);
    const timer =
      refresher === 'us'
        ? this.#timers.set(seconds * 500 + (2 * Math.random() - 1) * JITTER, () => {
            dialog.endSession();
            this.#events.refresh(dialog, seconds);
          })
        : this.#timers.set(seconds * 1000, () => this.#events.expired(dialog));
    dialog.session = { timer, refresher };
  }
}

/** Reads Session-Expires; undefined when it is missing or unreadable. */
function sessionExpires(message: SipMessage): SessionExpires | undefined {
  const [delta = '', ...params] = (message.header('session-expires') ?? '').split(';').map((part) => part.trim());
  const seconds = decimal(delta, 2 ** 32 - 1);
  if (seconds === undefined) return undefined;
  const refresher = params.find((param) => /^refresher\s*=/i.test(param))?.split('=')[1];
  const side = refresher?.trim().toLowerCase();
  return { seconds, refresher: side === 'uac' || side === 'uas' ? side : undefined };
}
