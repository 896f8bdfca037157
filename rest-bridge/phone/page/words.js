/** What went wrong and what to do, in plain words. */

/** @typedef {{ status_code: number, reason_phrase: string, getHeader(name: string): string | undefined }} SipAnswer */

const NO_MICROPHONE = new Map([
  [
    'NotAllowedError',
    'The browser does not let this page use the microphone. Allow it at the icon left of the address, then call again.',
  ],
  ['NotFoundError', 'No microphone was found. Connect one, then call again.'],
  ['NotReadableError', 'The microphone cannot be read. End other programs that use it, then call again.'],
]);

/**
 * Why there is no microphone.
 * @param {unknown} error of `getUserMedia`
 */
export function whyNoMicrophone(error) {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return NO_MICROPHONE.get(name) ?? `The microphone cannot be used: ${message}.`;
}

export const NO_NETWORK =
  'The browser finds no network for the sound. Connect this computer to one, even for calls that stay on it.';

/** Why this page cannot call; empty: it can. */
export function whyNoCalls() {
  if (!window.isSecureContext)
    return 'Browsers give the microphone only to pages at https:// or at http://127.0.0.1. Open this page at one of these.';
  if (navigator.mediaDevices === undefined || window.RTCPeerConnection === undefined)
    return 'This browser cannot make calls: it has no WebRTC. Use another browser, or a newer release.';
  return '';
}

/**
 * Why a login was refused.
 * @param {SipAnswer | null} answer null: none came
 */
export function whyNotLoggedIn(answer) {
  const wait = retryAfter(answer);
  if (answer?.reason_phrase === 'Too Many Contacts')
    return 'Too many phones are logged in to this account. Log one of them out.';
  switch (answer?.status_code) {
    case 401:
    case 403:
    case 404:
    case 407:
      return wait === undefined
        ? 'Login, domain or password is wrong. The password is the SIP password of the account.'
        : `Too many wrong passwords. Try again in ${inWords(wait)}.`;
    case undefined:
      return 'The server did not answer.';
    default:
      return `The server refused the login: ${answer?.status_code} ${answer?.reason_phrase}.`;
  }
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

/** @param {number} seconds */
function inWords(seconds) {
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

/** SIP status of a call that failed, and what it means. */
const CALL_FAILURES = new Map([
  [400, 'The server did not accept the number. Check it.'],
  [401, 'The server refused the password. Log out and log in again.'],
  [403, 'This call is not allowed.'],
  [404, 'Nobody has this number. Check it.'],
  [407, 'The server refused the password. Log out and log in again.'],
  [408, 'No answer.'],
  [410, 'This number is not in use any more.'],
  [480, 'Not available: no phone is registered there, or nobody answers.'],
  [484, 'The number is incomplete.'],
  [486, 'Busy.'],
  [487, 'The call was cancelled.'],
  [488, 'The other phone has no sound in common with this browser.'],
  [500, 'The server had an error. Try again.'],
  [503, 'The server cannot take the call now. Try again in a moment.'],
  [600, 'Busy.'],
  [603, 'Declined.'],
  [604, 'Nobody has this number. Check it.'],
]);

/** Causes of JsSIP, for ends without a SIP answer. */
const CAUSES = new Map([
  ['Connection Error', 'The connection to the server is lost. The page connects again by itself.'],
  ['Request Timeout', 'The server did not answer. Try again.'],
  ['RTP Timeout', 'No sound comes through: the connection is lost, or a firewall stops it.'],
  ['WebRTC Error', 'The browser could not set up the sound. Load the page again.'],
  ['Bad Media Description', 'The server sent a sound description that the browser does not take.'],
  ['Dialog Error', 'The server does not know this call any more: it was started again.'],
  ['No ACK', 'The connection was lost while the call began.'],
  ['No Answer', 'Not answered.'],
  ['Expires', 'Not answered.'],
  ['Canceled', 'The caller gave up.'],
  ['Rejected', 'Declined.'],
  ['Terminated', ''],
]);

/**
 * How a call ended; empty: as calls should.
 * @param {{ originator: string, cause: string, message?: Partial<SipAnswer> | null }} end of JsSIP
 */
export function howItEnded({ originator, cause, message }) {
  const status = message?.status_code;
  if (originator === 'remote' && status !== undefined && status >= 300)
    return CALL_FAILURES.get(status) ?? `The call failed: ${status} ${message?.reason_phrase ?? ''}.`;
  if (cause === 'Canceled' && /cause=200\b/.test(message?.getHeader?.('Reason') ?? ''))
    return 'Answered at another phone.';
  if (originator === 'local' && (cause === 'Canceled' || cause === 'Rejected')) return '';
  return CAUSES.get(cause) ?? `The call failed: ${cause}.`;
}

/**
 * Why a transfer failed.
 * @param {string} target
 * @param {number} status
 */
export function whyNotTransferred(target, status) {
  const why = CALL_FAILURES.get(status) ?? `Status ${status}.`;
  return `Not transferred to ${target}. ${why} The call is still here.`;
}

/**
 * Minutes and seconds, or hours too.
 * @param {number} ms
 */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}:` : ''}${two(minutes)}:${two(seconds % 60)}`;
}
