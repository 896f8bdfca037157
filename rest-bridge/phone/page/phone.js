/** The phone: an account's line, its calls, and what it has to say. Views of it come and go; the calls stay. */
import { forgetPassword } from './account.js';
import { Calls } from './calls.js';
import { Line } from './line.js';
import { Sounds } from './sounds.js';
import { speak, words } from './words.js';

/** @typedef {import('./account.js').Account} Account */
/** @typedef {import('./call.js').Call} Call */
/** @typedef {{ from: string, text: string }} Message */

/** Events: `change` of anything; `language`; `add` and `again`, with a call as `detail`: a new one, and one that was to be called again. */
export class Phone extends EventTarget {
  /** @type {Line | undefined} */
  line;
  /** @type {Calls | undefined} */
  calls;
  /** @type {Message[]} newest first */
  messages = [];
  /** What went wrong last; empty: nothing. */
  problem = '';
  /** The number in the field, typed or clicked and not called yet. */
  target = '';
  #sounds = new Sounds();

  constructor() {
    super();
    // Browsers let a page sound after one of these.
    for (const type of ['click', 'keydown']) document.addEventListener(type, () => this.#sounds.allow());
    addEventListener('beforeunload', (event) => {
      if (this.live.length > 0) event.preventDefault();
    });
    addEventListener('pagehide', () => this.close());
  }

  /** Live calls, newest first. @returns {readonly Call[]} */
  get live() {
    return this.calls?.live ?? [];
  }

  /** True while an account is logged in, also when the server is away for a while. */
  get loggedIn() {
    return this.line?.hasRegistered === true;
  }

  /** @param {Account} account */
  logIn(account) {
    this.close();
    this.problem = '';
    try {
      this.#open(new Line(account));
    } catch {
      this.problem = words('badAccount');
    }
    this.#changed();
  }

  /** Ends the calls and the registration, and forgets the password. */
  logOut() {
    this.close();
    forgetPassword();
  }

  /** @param {import('./words.js').Language} language of what is said from now on */
  speak(language) {
    speak(language);
    this.dispatchEvent(new Event('language'));
    this.#changed();
  }

  /**
   * Calls a number, unless there is a call with it. Without a line the number waits in the field.
   * @param {string} number
   */
  async dial(number) {
    this.problem = '';
    const known = this.live.find((call) => call.number === number);
    if (known === undefined) {
      this.target = number;
      if (this.line === undefined || this.calls === undefined) this.problem = words('logInFirst', { number });
      else if (this.line.state !== 'registered') this.problem = words('notNow', { why: this.line.text });
      else if (await this.calls.start(number)) this.target = '';
    } else this.dispatchEvent(new CustomEvent('again', { detail: known }));
    this.#changed();
  }

  /** @param {Line} line */
  #open(line) {
    const calls = new Calls(line);
    this.line = line;
    this.calls = calls;
    line.addEventListener('change', () => {
      if (this.line !== line) return;
      if (line.state === 'refused' && !line.hasRegistered) {
        this.problem = line.text;
        this.line = undefined;
        this.calls = undefined;
      }
      this.#changed();
    });
    line.addEventListener('message', (event) => {
      this.messages = [/** @type {CustomEvent} */ (event).detail, ...this.messages];
      this.#changed();
    });
    calls.addEventListener('change', () => this.#changed());
    calls.addEventListener('add', (event) => {
      this.problem = '';
      this.dispatchEvent(new CustomEvent('add', { detail: /** @type {CustomEvent} */ (event).detail }));
    });
    calls.addEventListener('problem', (event) => {
      this.problem = /** @type {CustomEvent} */ (event).detail;
      this.#changed();
    });
  }

  /** Ends the calls and the registration. */
  close() {
    this.calls?.hangUpAll();
    this.line?.close();
    this.line = undefined;
    this.calls = undefined;
    this.messages = [];
    this.#changed();
  }

  #changed() {
    const { live } = this;
    const incoming = live.some(({ state }) => state === 'incoming');
    const talking = live.some(({ state }) => state === 'talking');
    const ringing = live.some(({ state }) => state === 'ringing');
    if (incoming) this.#sounds.play(talking ? 'waiting' : 'incoming');
    // A server that sends sound of its own, such as an announcement, is not drowned out.
    else
      this.#sounds.play(
        ringing && !talking && !live.some(({ audio }) => audio.srcObject !== null) ? 'ringing' : 'none',
      );
    this.dispatchEvent(new Event('change'));
  }
}
