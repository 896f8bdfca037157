/** The calls of this page. One has the microphone at a time; the others are held. */
import { Call, SOUND } from './call.js';
import { whyNoMicrophone } from './reasons.js';
import { words } from './words.js';

/** Ended calls that stay in the list. */
const KEPT = 5;

/** The calls. Events: `change` of the list or of a call; `problem` with a text as `detail`; `add` with a call as `detail`. */
export class Calls extends EventTarget {
  /** @type {Call[]} newest first */
  live = [];
  /** @type {Call[]} newest first */
  ended = [];
  /** @type {import('./line.js').Line} */
  #line;
  /** A call is being started: the browser may ask for the microphone, and other calls are put on hold. */
  #starting = false;

  /** @param {import('./line.js').Line} line */
  constructor(line) {
    super();
    this.#line = line;
    line.addEventListener('call', (event) => {
      const session = /** @type {CustomEvent} */ (event).detail;
      this.#add(new Call(session, session.remote_identity.uri.user ?? session.remote_identity.uri.host));
    });
  }

  /**
   * Starts a call; the others are held.
   * @param {string} target
   * @returns {Promise<boolean>} false: it could not be started
   */
  async start(target) {
    if (this.#starting) return false;
    this.#starting = true;
    try {
      return await this.#start(target);
    } finally {
      this.#starting = false;
    }
  }

  /** @param {string} target */
  async #start(target) {
    const microphone = await this.#microphone();
    if (microphone === undefined) return false;
    await this.#holdOthers(undefined);
    try {
      this.#add(new Call(this.#line.call(target, microphone, SOUND), target, microphone));
      return true;
    } catch {
      for (const track of microphone.getTracks()) track.stop();
      this.#problem(words('badTarget', { target }));
      return false;
    }
  }

  /** @param {Call} call */
  async answer(call) {
    const microphone = await this.#microphone();
    if (microphone === undefined) return;
    await this.#holdOthers(call);
    if (call.state === 'incoming') call.answer(microphone);
    else for (const track of microphone.getTracks()) track.stop();
  }

  /**
   * Holds or resumes a call.
   * @param {Call} call
   * @param {boolean} held
   */
  async setHeld(call, held) {
    if (!held) await this.#holdOthers(call);
    await call.setHeld(held);
  }

  /**
   * Transfers a call to a number.
   * @param {Call} call
   * @param {string} target
   */
  transfer(call, target) {
    try {
      call.transfer(target);
    } catch {
      this.#problem(words('badTarget', { target }));
    }
  }

  hangUpAll() {
    for (const call of this.live) call.hangUp();
  }

  /** @param {Call} call */
  #add(call) {
    this.live = [call, ...this.live];
    call.addEventListener('change', () => this.#changed(call));
    this.dispatchEvent(new CustomEvent('add', { detail: call }));
    this.dispatchEvent(new Event('change'));
  }

  /** @param {Call} call */
  #changed(call) {
    if (!call.live && this.live.includes(call)) {
      this.live = this.live.filter((one) => one !== call);
      this.ended = [call, ...this.ended].slice(0, KEPT);
    }
    this.dispatchEvent(new Event('change'));
  }

  /** @param {Call | undefined} call */
  async #holdOthers(call) {
    await Promise.all(this.live.filter((one) => one !== call).map((one) => one.setHeld(true)));
  }

  /** The microphone, or undefined after a `problem`. */
  async #microphone() {
    try {
      return await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      this.#problem(whyNoMicrophone(error));
      return undefined;
    }
  }

  /** @param {string} text */
  #problem(text) {
    this.dispatchEvent(new CustomEvent('problem', { detail: text }));
  }
}
