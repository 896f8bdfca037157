/** The phone's line: the connection to the server, and the registration. */
import * as JsSIP from './jssip.js';
import { isRefusal, retryAfter, whyNotLoggedIn } from './reasons.js';
import { words } from './words.js';

/** @typedef {'connecting' | 'registered' | 'waiting' | 'refused' | 'closed'} LineState */

/** Seconds. */
const REGISTER_EXPIRES = 300;
const RECONNECT_MIN = 1;
const RECONNECT_MAX = 10;
const RETRY_AFTER = 10;

/**
 * A registered account. Events: `change`, of `state` or `text`; `call` with the JsSIP session of an incoming call as `detail`;
 * `message`, a text with `{ from, text }` as `detail`.
 * It connects and registers again by itself.
 */
export class Line extends EventTarget {
  /** @type {LineState} */
  state = 'connecting';
  #text = () => words('connecting');
  /** Once registered, a refusal leaves the live calls alone. */
  hasRegistered = false;
  /** @type {JsSIP.UA} */
  #ua;
  /** @type {number | undefined} */
  #retry;

  /** @param {import('./account.js').Account} account */
  constructor({ login, domain, password }) {
    super();
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.#ua = new JsSIP.UA({
      sockets: [new JsSIP.WebSocketInterface(`${scheme}://${location.host}/sip`)],
      uri: `sip:${encodeURIComponent(login)}@${domain}`,
      authorization_user: login,
      password,
      register_expires: REGISTER_EXPIRES,
      connection_recovery_min_interval: RECONNECT_MIN,
      connection_recovery_max_interval: RECONNECT_MAX,
      user_agent: 'Ringmaster browser phone',
    });
    this.#listen(`${login}@${domain}`);
    this.#ua.start();
  }

  /** The state in the present language. */
  get text() {
    return this.#text();
  }

  /**
   * Starts a call.
   * @param {string} target number, login or SIP address
   * @param {MediaStream} mediaStream the microphone
   * @param {object} rtc options of JsSIP
   * @returns the JsSIP session
   * @throws {TypeError} for an invalid target
   */
  call(target, mediaStream, rtc) {
    return this.#ua.call(target, { mediaStream, ...rtc });
  }

  /** Ends the calls and the registration. */
  close() {
    clearTimeout(this.#retry);
    this.#ua.stop();
    this.#become('closed', () => '');
  }

  /** @param {string} name of the account */
  #listen(name) {
    const ua = this.#ua;
    ua.on('connecting', ({ attempts }) => {
      if (attempts === 0) this.#become('connecting', () => words('connecting'));
    });
    ua.on('connected', () => this.#become('connecting', () => words('loggingIn')));
    ua.on('disconnected', () => {
      if (this.state === 'refused' || this.state === 'closed') return;
      clearTimeout(this.#retry);
      this.#become('waiting', () => words('noServer'));
    });
    ua.on('registered', () => {
      this.hasRegistered = true;
      this.#become('registered', () => words('ready', { name }));
    });
    ua.on('registrationFailed', ({ response }) => this.#failed(response ?? null));
    ua.on('newRTCSession', (/** @type {{ originator: string, session: object }} */ { originator, session }) => {
      if (originator === 'remote') this.dispatchEvent(new CustomEvent('call', { detail: session }));
    });
    ua.on('newMessage', (/** @type {{ originator: string, request: any }} */ { originator, request }) => {
      const from = request.from.display_name || request.from.uri.user;
      if (originator === 'remote')
        this.dispatchEvent(new CustomEvent('message', { detail: { from, text: request.body } }));
    });
  }

  /** @param {import('./reasons.js').SipAnswer | null} answer */
  #failed(answer) {
    if (this.state === 'closed' || !this.#ua.isConnected()) return;
    const why = () => whyNotLoggedIn(answer);
    if (isRefusal(answer)) {
      // Repeated wrong passwords would ban the address.
      this.#become('refused', why);
      if (!this.hasRegistered) this.#ua.stop();
      return;
    }
    const seconds = retryAfter(answer) ?? RETRY_AFTER;
    this.#become('waiting', () => words('retryIn', { why: why(), seconds }));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#ua.register(), seconds * 1000);
  }

  /**
   * @param {LineState} state
   * @param {() => string} text
   */
  #become(state, text) {
    if (this.state === state && this.text === text()) return;
    if (this.state === 'closed' || (this.state === 'refused' && state !== 'closed' && state !== 'registered')) return;
    this.state = state;
    this.#text = text;
    this.dispatchEvent(new Event('change'));
  }
}
