/** Session timers. */
import { headerOf } from './header-of.ts';
import type { SrfMessage } from './srf-types.ts';

/** Shortest permitted session interval, seconds (RFC 4028 section 4). */
const MIN_SE = 90;
/** Default session interval, seconds (recommended by RFC 4028 section 4). */
export const DEFAULT_SESSION_EXPIRES = 1800;

/**
 * This side's session timer headers (RFC 4028). The SIP server acts on them: it sends due refreshes and ends dialogs
 * that were not refreshed. The phone is asked to refresh if it can, because only it knows its session.
 */
export class SessionTimerHeaders {
  readonly #expires: number;

  /** @param expires requested interval in seconds, at least 90 */
  constructor(expires: number = DEFAULT_SESSION_EXPIRES) {
    this.#expires = expires;
  }

  /**
   * Headers for an INVITE of this side (section 7.1).
   * @param minSE from the called side's 422
   */
  offer(minSE: number = MIN_SE): Record<string, string> {
    return {
      Supported: 'timer',
      'Session-Expires': `${Math.max(this.#expires, minSE)};refresher=uas`,
      'Min-SE': String(minSE),
    };
  }

  /** Headers for the 2xx to an INVITE or UPDATE (section 9, table 2); none when no timer runs. */
  answer(request: SrfMessage): Record<string, string> {
    const supported = supportsTimer(request);
    const offered = parse(request);
    // Without support at the far end, only an intermediate element requested the timer, and this side has to refresh.
    if (offered === undefined && !supported) return {};
    const seconds = Math.max(offered?.seconds ?? this.#expires, MIN_SE);
    const refresher = offered?.refresher ?? (supported ? 'uac' : 'uas');
    return {
      Supported: 'timer',
      'Session-Expires': `${seconds};refresher=${refresher}`,
      ...(refresher === 'uac' && supported ? { Require: 'timer' } : {}),
    };
  }
}

/** The value of Min-SE when the offered interval is too small: 422 (section 9). */
export function refusedInterval(request: SrfMessage): string | undefined {
  const offered = parse(request);
  return offered !== undefined && offered.seconds < MIN_SE && supportsTimer(request) ? String(MIN_SE) : undefined;
}

/** Seconds requested by a 422; undefined when absent or below the offered interval. */
export function wantedInterval(answer: SrfMessage): number | undefined {
  const seconds = Number(/^\s*(\d{1,9})/.exec(answer.get('Min-SE') ?? '')?.[1]);
  return seconds > MIN_SE ? seconds : undefined;
}

function supportsTimer(message: SrfMessage): boolean {
  return ['Supported', 'Require'].some((name) => /(^|,)\s*timer\s*(,|$)/i.test(message.get(name) ?? ''));
}

function parse(message: SrfMessage): { seconds: number; refresher: 'uac' | 'uas' | undefined } | undefined {
  const [, seconds, params = ''] = /^\s*(\d{1,10})\s*(;.*)?$/.exec(headerOf(message, 'Session-Expires') ?? '') ?? [];
  if (seconds === undefined) return undefined;
  const refresher = /;\s*refresher\s*=\s*(ua[cs])\s*(;|$)/i.exec(params)?.[1]?.toLowerCase();
  return { seconds: Number(seconds), refresher: refresher === 'uac' || refresher === 'uas' ? refresher : undefined };
}
