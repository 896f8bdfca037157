/** Expiry of subscriptions. */
import type { SipMessage, SipRequest } from '../stack/index.ts';
import type { Core } from './core.ts';
import type { Dialog } from './dialog.ts';

/** Duration of a subscription without Expires, seconds. RFC 3265 leaves it to the event package; 3600 is usual. */
const DEFAULT_EXPIRES = 3600;
/** The longest accepted duration, seconds. */
const MAX_EXPIRES = 86_400;

/**
 * Ends the dialog of a SUBSCRIBE with its subscription: after Expires plus 64*T1, which leaves time for the last NOTIFY
 * (RFC 6665 section 4.1.2). Call it for the first and every further successful SUBSCRIBE.
 */
export function watchSubscription(core: Core, dialog: Dialog, request: SipRequest, answer: SipMessage): void {
  if (dialog.method !== 'SUBSCRIBE') return;
  const given = Number(answer.header('expires') ?? request.header('expires') ?? DEFAULT_EXPIRES);
  const seconds = Number.isFinite(given) ? Math.min(Math.max(given, 0), MAX_EXPIRES) : DEFAULT_EXPIRES;
  const { timers, timerValues } = core.endpoint;
  dialog.expiry?.cancel();
  dialog.expiry = timers.set(seconds * 1000 + 64 * timerValues.t1, () => core.dialogs.remove(dialog));
}
