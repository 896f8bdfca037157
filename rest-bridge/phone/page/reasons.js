/** What went wrong and what to do, in plain words. */
import { isWord, words } from './words.js';

/** @typedef {{ status_code: number, reason_phrase: string, getHeader(name: string): string | undefined }} SipAnswer */

/** Errors of `getUserMedia`. */
const NO_MICROPHONE = /** @type {const} */ ({
  NotAllowedError: 'micNotAllowed',
  NotFoundError: 'micNotFound',
  NotReadableError: 'micNotReadable',
});

/**
 * Why there is no microphone.
 * @param {unknown} error of `getUserMedia`
 */
export function whyNoMicrophone(error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return name in NO_MICROPHONE
    ? words(NO_MICROPHONE[/** @type {keyof typeof NO_MICROPHONE} */ (name)])
    : words('micOther', { message });
}

/** Why this page cannot call; empty: it can. */
export function whyNoCalls() {
  if (!window.isSecureContext) return words('insecure');
  if (navigator.mediaDevices === undefined || window.RTCPeerConnection === undefined) return words('noWebRtc');
  return '';
}

/**
 * Why a login was refused.
 * @param {SipAnswer | null} answer null: none came
 */
export function whyNotLoggedIn(answer) {
  if (answer === null) return words('serverSilent');
  if (answer.reason_phrase === 'Too Many Contacts') return words('tooManyPhones');
  if (!isRefusal(answer)) return words('serverRefused', { status: `${answer.status_code} ${answer.reason_phrase}` });
  const wait = retryAfter(answer);
  if (wait === undefined) return words('wrongAccount');
  return wait < 90 ? words('bannedSeconds', { n: wait }) : words('bannedMinutes', { n: Math.ceil(wait / 60) });
}

/**
 * Seconds after which a request may be repeated.
 * @param {SipAnswer | null} answer
 */
export function retryAfter(answer) {
  const seconds = Number.parseInt(answer?.getHeader('Retry-After') ?? '', 10);
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** @param {SipAnswer | null} answer */
export function isRefusal(answer) {
  return [401, 403, 404, 407].includes(answer?.status_code ?? 0);
}

/** Statuses that mean the same to the person. */
const SAME = new Map([
  [407, 401],
  [600, 486],
  [604, 404],
]);

/** @param {number} status @returns {string | undefined} */
function meaningOf(status) {
  const key = SAME.get(status) ?? status;
  return isWord(key) ? words(key) : undefined;
}

/** Causes of JsSIP that mean the same as another. */
const CAUSES = new Map([
  ['Expires', 'No Answer'],
  ['Rejected', '603'],
]);

/**
 * True where another phone has answered (RFC 3326).
 * @param {{ cause: string, message?: Partial<SipAnswer> | null | undefined }} end of JsSIP
 */
export function isElsewhere({ cause, message }) {
  return cause === 'Canceled' && /cause=200\b/.test(message?.getHeader?.('Reason') ?? '');
}

/**
 * How a call ended; empty: as calls should.
 * @param {{ originator: string, cause: string, message?: Partial<SipAnswer> | null }} end of JsSIP
 */
export function howItEnded({ originator, cause, message }) {
  const status = message?.status_code;
  if (originator === 'remote' && status !== undefined && status >= 300)
    return meaningOf(status) ?? words('failedWith', { status: `${status} ${message?.reason_phrase ?? ''}` });
  if (isElsewhere({ cause, message })) return words('elsewhere');
  if (originator === 'local' && (cause === 'Canceled' || cause === 'Rejected')) return '';
  if (cause === 'Terminated') return '';
  const key = CAUSES.get(cause) ?? cause;
  return isWord(key) ? words(key) : words('failedWith', { status: cause });
}

/**
 * Why a transfer failed.
 * @param {string} name of the target
 * @param {number} status
 */
export function whyNotTransferred(name, status) {
  return words('notTransferred', { name, why: meaningOf(status) ?? words('status', { status }) });
}
