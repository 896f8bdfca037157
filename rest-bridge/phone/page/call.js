/** One call. */
import * as JsSIP from './jssip.js';
import { howItEnded, isElsewhere, whyNotTransferred } from './reasons.js';
import { words } from './words.js';

/** @typedef {'calling' | 'ringing' | 'incoming' | 'answering' | 'talking' | 'ended'} CallState */
/** @typedef {import('jssip').UA} UA */
/** @typedef {ReturnType<UA['call']>} Session */

/** What JsSIP is told of the sound. The server has a public address, or is on the same machine: no STUN. */
export const SOUND = /** @type {const} */ ({
  pcConfig: { iceServers: /** @type {RTCIceServer[]} */ ([]), rtcpMuxPolicy: 'require' },
  rtcOfferConstraints: { offerToReceiveAudio: true, offerToReceiveVideo: false },
});

/** How long the addresses of the computer are looked for, ms: from the first one, and without any. */
const MORE_ADDRESSES = 1000;
const NO_ADDRESS = 3000;
const HOLD_ATTEMPTS = 20;
/** ms */
const HOLD_PAUSE = 100;
/** ms */
const DIGIT = { duration: 120, interToneGap: 80 };

let made = 0;

/** A call, in either direction. Event: `change`. */
export class Call extends EventTarget {
  /** Tells the calls of this page apart. */
  id = (made += 1);
  /** @type {CallState} */
  state;
  /** Held by this side, or by the other. */
  held = false;
  heldThere = false;
  muted = false;
  /** Begin of the talk, ms since the epoch. */
  since = 0;
  until = 0;
  /** An incoming call that neither this side nor another phone answered, and this side did not decline. */
  missed = false;
  /** How it ended, or what became of a transfer. */
  notice = '';
  /** Digits sent. */
  digits = '';
  /** The other's name and number. */
  name;
  number;
  incoming;
  /** What is heard. */
  audio = new Audio();
  /** A transfer in progress: its target. */
  transferring = '';
  /** @type {Session} */
  session;
  /** @type {MediaStream | undefined} */
  #microphone;
  /** @type {number | undefined} */
  #addressTimer;
  /** The latest change of hold. */
  #holding = Promise.resolve();

  /**
   * @param {Session} session
   * @param {string} number of the other
   * @param {MediaStream} [microphone] of an outgoing call
   */
  constructor(session, number, microphone) {
    super();
    this.session = session;
    this.incoming = microphone === undefined;
    this.state = this.incoming ? 'incoming' : 'calling';
    this.number = number;
    this.name = (this.incoming && session.remote_identity.display_name) || '';
    this.#microphone = microphone;
    this.audio.autoplay = true;
    if (session.connection) this.#hear(session.connection);
    session.on('peerconnection', ({ peerconnection }) => this.#hear(peerconnection));
    session.on('progress', () => {
      if (!this.incoming) this.#become('ringing');
    });
    session.on('icecandidate', ({ ready }) => {
      clearTimeout(this.#addressTimer);
      this.#addressTimer = setTimeout(ready, MORE_ADDRESSES);
    });
    session.on('confirmed', () => {
      this.since = Date.now();
      this.#become('talking');
    });
    session.on('hold', ({ originator }) => this.#hold(originator, true));
    session.on('unhold', ({ originator }) => this.#hold(originator, false));
    session.on('ended', (end) => this.#end(end));
    session.on('failed', (end) => this.#end(end));
  }

  /** Name, or number. */
  get title() {
    return this.name || this.number;
  }

  get live() {
    return this.state !== 'ended';
  }

  /** @param {MediaStream} microphone */
  answer(microphone) {
    this.#microphone = microphone;
    this.#become('answering');
    this.session.answer({ mediaStream: microphone, ...SOUND });
  }

  /** Declines, cancels or ends the call. */
  hangUp() {
    if (this.state === 'ended') return;
    // 486: the caller hears "busy" and not "nobody there".
    this.session.terminate(this.state === 'incoming' ? { status_code: 486 } : {});
  }

  /**
   * Holds or resumes the call, after earlier such changes; settles when the other side knows, or the call is over.
   * @param {boolean} held
   */
  setHeld(held) {
    this.#holding = this.#holding.then(() => this.#changeHold(held));
    return this.#holding;
  }

  /** @param {boolean} held */
  async #changeHold(held) {
    for (let attempt = 0; attempt < HOLD_ATTEMPTS; attempt += 1) {
      if (this.state !== 'talking' || this.held === held || (await this.#offerHold(held))) return;
      // The other side changes the call at this moment.
      await new Promise((resolve) => setTimeout(resolve, HOLD_PAUSE));
    }
  }

  /**
   * @param {boolean} held
   * @returns {Promise<boolean>} false: not possible now
   */
  #offerHold(held) {
    // The types of its base, of Node.js, are not known here.
    const session = /** @type {Session & { off(event: string, listener: () => void): void }} */ (this.session);
    return new Promise((resolve) => {
      const settle = () => {
        session.off('ended', settle);
        resolve(true);
      };
      session.on('ended', settle);
      if (held ? session.hold({}, settle) : session.unhold({}, settle)) return;
      session.off('ended', settle);
      resolve(false);
    });
  }

  setMuted(/** @type {boolean} */ muted) {
    this.muted = muted;
    if (muted) this.session.mute({ audio: true });
    else this.session.unmute({ audio: true });
    this.#changed();
  }

  /** @param {string} digits of 0-9, * and # */
  send(digits) {
    if (this.state !== 'talking') return;
    const [sender] = this.session.connection.getSenders();
    const { RFC2833, INFO } = JsSIP.C.DTMF_TRANSPORT;
    const transportType = sender?.dtmf?.canInsertDTMF === true ? RFC2833 : INFO;
    this.session.sendDTMF(digits, { transportType, ...DIGIT });
    this.digits += digits;
    this.#changed();
  }

  /**
   * Connects the other with somebody else; then this call ends.
   * @param {string} target
   * @throws {TypeError} for an invalid target
   */
  transfer(target) {
    this.#refer(target, target);
  }

  /**
   * Connects the other with the other of a second call; then both end.
   * @param {Call} other
   */
  connectWith(other) {
    const { call_id: id, local_tag: local, remote_tag: remote } = dialogOf(other.session);
    const target = other.session.remote_identity.uri.clone();
    target.setHeader('Replaces', encodeURIComponent(`${id};to-tag=${remote};from-tag=${local}`));
    this.#refer(target, other.name || other.number);
  }

  /**
   * @param {string | import('jssip').URI} target
   * @param {string} name
   */
  #refer(target, name) {
    this.transferring = name;
    this.notice = '';
    this.#changed();
    const failed = (/** @type {number} */ status) => {
      this.transferring = '';
      this.notice = whyNotTransferred(name, status);
      this.#changed();
    };
    this.session.refer(target, {
      eventHandlers: {
        accepted: () => {
          this.notice = words('transferred', { name });
          if (this.session.isEstablished()) this.session.terminate();
        },
        failed: (/** @type {any} */ { status_line: { status_code: status } }) => failed(status),
        requestFailed: (/** @type {any} */ { response }) => failed(response?.status_code ?? 408),
      },
    });
  }

  /** @param {RTCPeerConnection} connection */
  #hear(connection) {
    connection.addEventListener('icegatheringstatechange', () => {
      clearTimeout(this.#addressTimer);
      if (connection.iceGatheringState === 'gathering')
        this.#addressTimer = setTimeout(() => this.#findsNoNetwork(), NO_ADDRESS);
    });
    connection.addEventListener('track', ({ track, streams: [stream] }) => {
      this.audio.srcObject = stream ?? new MediaStream([track]);
      // Refused where the page was never clicked; the sound begins with the first click.
      this.audio.play().catch(() => undefined);
    });
  }

  /** The browser would look for ever. */
  #findsNoNetwork() {
    if (this.state === 'ended') return;
    this.notice = words('noNetwork');
    this.session.terminate();
  }

  /**
   * @param {unknown} originator
   * @param {boolean} held
   */
  #hold(originator, held) {
    if (originator === 'local') this.held = held;
    else this.heldThere = held;
    this.#changed();
  }

  /** @param {any} end */
  #end(end) {
    if (this.state === 'ended') return;
    this.until = Date.now();
    this.missed = this.incoming && this.since === 0 && end.originator === 'remote' && !isElsewhere(end);
    if (this.transferring !== '') this.notice = words('transferred', { name: this.transferring });
    else this.notice = howItEnded(end) || this.notice;
    this.transferring = '';
    this.audio.srcObject = null;
    clearTimeout(this.#addressTimer);
    for (const track of this.#microphone?.getTracks() ?? []) track.stop();
    this.#become('ended');
  }

  /** @param {CallState} state */
  #become(state) {
    this.state = state;
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * The names of a dialog (RFC 3891 section 3). JsSIP's own Replaces has the tags the wrong way round for incoming calls.
 * @param {any} session
 * @returns {{ call_id: string, local_tag: string, remote_tag: string }}
 */
function dialogOf(session) {
  // oxlint-disable-next-line no-underscore-dangle -- JsSIP has no other way to it
  return session._dialog.id;
}
