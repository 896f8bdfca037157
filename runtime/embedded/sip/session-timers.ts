import { decimal, type SipMessage, type SipRequest, type SipResponse, type Timers } from '../stack/index.ts';
import type { Dialog } from './dialog.ts';

/** The shortest session interval there is, seconds (RFC 4028 section 4). */
export const MIN_SE = 90;
/** So that dialogs that began together are not refreshed together, ms to either side. */
const JITTER = 5000;

/** Session-Expires of a message. */
interface SessionExpires {
  readonly seconds: number;
  /** Which side of the transaction refreshes, if it says so. */
  readonly refresher: 'uac' | 'uas' | undefined;
}

/** What the timers make the server do. */
export interface SessionTimerEvents {
  /** Half the interval is over: a re-INVITE is due from this side. */
  refresh(dialog: Dialog, seconds: number): void;
  /** The far end should have refreshed the session and has not. */
  expired(dialog: Dialog): void;
}

/**
 * Session timers (RFC 4028) as drachtio-server runs them, without the application: whoever Session-Expires of the last
 * INVITE or UPDATE named has to refresh. Only an INVITE's dialog has one.
 */
export class SessionTimers {
  readonly #timers: Timers;
  readonly #events: SessionTimerEvents;

  constructor(timers: Timers, events: SessionTimerEvents) {
    this.#timers = timers;
    this.#events = events;
  }

  /** The far end's 200 to an INVITE of this side. Without Session-Expires nothing changes. */
  accepted(dialog: Dialog, response: SipResponse): void {
    const session = sessionExpires(response);
    if (session !== undefined) this.#set(dialog, session.seconds, session.refresher === 'uas' ? 'them' : 'us');
  }

  /**
   * An INVITE or UPDATE of the far end within the dialog: what it says replaces what was agreed.
   * @returns false when its interval is too small: it is to be refused with 422 and Min-SE.
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
   * Value of Session-Expires for the 200 to an INVITE that begins a dialog, when the application gives none. An offer that
   * leaves open who refreshes is not taken up, as drachtio-server does by default.
   */
  answerTo(invite: SipRequest): string | undefined {
    const session = sessionExpires(invite);
    if (session?.refresher === undefined) return undefined;
    return `${Math.max(session.seconds, MIN_SE)};refresher=${session.refresher}`;
  }

  /** The 200 that this side sent to an INVITE or UPDATE. */
  answered(dialog: Dialog, response: SipResponse): void {
    const session = sessionExpires(response);
    if (session !== undefined) this.#set(dialog, session.seconds, session.refresher === 'uas' ? 'us' : 'them');
  }

  /** The refresh crossed a re-INVITE of the far end: it is tried again, half an interval later. */
  again(dialog: Dialog, seconds: number): void {
    this.#set(dialog, seconds, 'us');
  }

  #set(dialog: Dialog, given: number, refresher: 'us' | 'them'): void {
    dialog.endSession();
    // Whatever the far end says, it cannot make this side send a re-INVITE every second.
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

/** Session-Expires, or undefined where there is none that can be read. */
function sessionExpires(message: SipMessage): SessionExpires | undefined {
  const [delta = '', ...params] = (message.header('session-expires') ?? '').split(';').map((part) => part.trim());
  const seconds = decimal(delta, 2 ** 32 - 1);
  if (seconds === undefined) return undefined;
  const refresher = params.find((param) => /^refresher\s*=/i.test(param))?.split('=')[1];
  const side = refresher?.trim().toLowerCase();
  return { seconds, refresher: side === 'uac' || side === 'uas' ? side : undefined };
}
