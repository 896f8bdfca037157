import type { SipMessage, SipRequest } from '../stack/index.ts';
import type { Core } from './core.ts';
import type { Dialog } from './dialog.ts';

/** Default duration of a subscription that names none, seconds (RFC 3265 left it to the event package; 3600 is usual). */
const DEFAULT_EXPIRES = 3600;
/** The longest that is believed. */
const MAX_EXPIRES = 86_400;

/**
 * Lets a dialog that a SUBSCRIBE began end with its subscription: Expires plus 64*T1 for the last NOTIFY (RFC 6665
 * section 4.1.2). To be called for the first and every further successful SUBSCRIBE.
 */
export function watchSubscription(core: Core, dialog: Dialog, request: SipRequest, answer: SipMessage): void {
  if (dialog.method !== 'SUBSCRIBE') return;
  const given = Number(answer.header('expires') ?? request.header('expires') ?? DEFAULT_EXPIRES);
  const seconds = Number.isFinite(given) ? Math.min(Math.max(given, 0), MAX_EXPIRES) : DEFAULT_EXPIRES;
  const { timers, timerValues } = core.endpoint;
  dialog.expiry?.cancel();
  dialog.expiry = timers.set(seconds * 1000 + 64 * timerValues.t1, () => core.dialogs.remove(dialog));
}
