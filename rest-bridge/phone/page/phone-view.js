/** The phone as a page shows it: the log-in form, then calls and keypad. */
import { CallView } from './call-view.js';
import { button, element, keypad, show, translate, word } from './dom.js';
import { LoginView } from './login-view.js';
import { suggestions } from './suggestions.js';
import { words } from './words.js';

/** @typedef {import('./call.js').Call} Call */
/** @typedef {import('./phone.js').Phone} Phone */
/** @typedef {import('./phone.js').Message} Message */

/** There the focus of a field would open a keyboard on the screen. */
const TOUCH = matchMedia('(pointer: coarse)');

/** A view of the phone in an element, until it is closed. A page has one at a time. */
export class PhoneView {
  /** @type {Phone} */
  #phone;
  /** @type {HTMLElement} */
  #root;
  /** @type {LoginView} */
  #login;
  /** @type {Map<Call, CallView>} */
  #views = new Map();
  #line = element('p', { id: 'line', role: 'status' });
  #logout = button(word('logOut'), () => this.#logOut(), 'quiet');
  #problem = element('p', { id: 'problem', className: 'problem', role: 'alert', hidden: true });
  #desk = element('div', { id: 'desk', hidden: true });
  #live = element('ul', { id: 'calls' });
  #noCalls = element('p', { className: 'hint' }, word('noCalls'));
  #past = element('ul', { id: 'past' });
  #messages = element('ul', { ariaLive: 'polite' });
  #target = element('input', {
    name: 'target',
    inputMode: 'tel',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
  });
  #tried = element('ul', { className: 'chips' });
  #said = element('p', { id: 'said', className: 'unseen', role: 'status' });
  #closed = new AbortController();
  #timer = setInterval(() => this.#tick(), 1000);
  /** Text messages shown. @type {readonly Message[]} */
  #shown = [];

  /**
   * @param {HTMLElement} root
   * @param {Phone} phone
   * @param {{ page?: boolean, login?: string, domain?: string, aside?: Node[] }} [options] `page`: with the landmarks of a
   *   page of its own; `login` and `domain` to begin with, where none is remembered; `aside` stands beside the line
   */
  constructor(root, phone, { page = false, login = '', domain = '', aside = [] } = {}) {
    this.#root = root;
    this.#phone = phone;
    this.#login = new LoginView(phone, { login, domain });
    const title = page ? [element('h1', {}, word('phone'))] : [];
    this.#fillDesk();
    root.tabIndex = -1;
    root.replaceChildren(
      element(page ? 'header' : 'div', { className: 'top' }, ...title, this.#line, ...aside, this.#logout),
      element(page ? 'main' : 'div', {}, this.#problem, this.#login.root, this.#desk),
      this.#said,
    );
    const { signal } = this.#closed;
    phone.addEventListener('change', () => this.#update(), { signal });
    phone.addEventListener('add', (event) => this.#announce(/** @type {CustomEvent} */ (event).detail), { signal });
    phone.addEventListener('again', (event) => this.#viewOf(/** @type {CustomEvent} */ (event).detail).focus(), {
      signal,
    });
    phone.addEventListener('language', () => translate(root), { signal });
    void this.#suggest();
    this.#update();
  }

  /** The phone itself goes on. */
  close() {
    clearInterval(this.#timer);
    this.#closed.abort();
    this.#root.replaceChildren();
  }

  /** Goes to where a person begins: the ringing call, the newest one, the number, or the log-in form. */
  focus() {
    const { live } = this.#phone;
    const call = live.find(({ state }) => state === 'incoming') ?? live[0];
    if (call !== undefined) this.#viewOf(call).focus();
    else if (!TOUCH.matches) (this.#phone.loggedIn ? this.#target : this.#login.firstField).focus();
    else this.#root.focus();
  }

  #fillDesk() {
    const dial = element(
      'form',
      { id: 'dial' },
      element('label', {}, word('target'), ' ', this.#target),
      keypad('keypad', (key) => {
        this.#target.value += key;
        this.#phone.target = this.#target.value;
      }),
      element('button', { type: 'submit', className: 'go' }, word('call')),
    );
    this.#target.addEventListener('input', () => {
      this.#phone.target = this.#target.value;
    });
    dial.addEventListener('submit', (event) => {
      event.preventDefault();
      const number = this.#target.value.trim();
      if (number === '') this.#target.focus();
      else void this.#phone.dial(number);
    });
    const tried = element('section', { hidden: true }, element('h3', {}, word('toTry')), this.#tried);
    this.#desk.append(
      section('live', 'calls', 'calls', this.#noCalls, this.#live),
      section('dialer', 'call', 'card', dial, tried),
      section('ended', 'ended', 'calls', this.#past),
      section('texts', 'texts', 'calls', this.#messages),
    );
  }

  #update() {
    const { line, loggedIn, problem, live, calls, target } = this.#phone;
    this.#line.dataset['state'] = line?.state ?? 'none';
    show(this.#line, line?.text ?? '');
    show(this.#problem, problem);
    this.#logout.hidden = line === undefined;
    const wasOut = this.#desk.hidden;
    this.#login.update();
    this.#desk.hidden = !loggedIn;
    this.#showCalls(live, calls?.ended ?? []);
    this.#showMessages();
    if (this.#target.value !== target) this.#target.value = target;
    if (wasOut && loggedIn && this.#hasFocus()) this.#focusTarget();
  }

  /**
   * @param {readonly Call[]} live
   * @param {readonly Call[]} ended
   */
  #showCalls(live, ended) {
    const hadFocus = this.#desk.contains(document.activeElement);
    for (const call of [...live, ...ended]) this.#viewOf(call).update();
    this.#place(this.#live, live);
    this.#place(this.#past, ended);
    for (const call of this.#views.keys()) if (!live.includes(call) && !ended.includes(call)) this.#views.delete(call);
    this.#noCalls.hidden = live.length > 0;
    this.#sectionOf(this.#past).hidden = ended.length === 0;
    // The button that ended a call is gone.
    if (hadFocus && !this.#desk.contains(document.activeElement)) this.#focusTarget();
  }

  #showMessages() {
    const { messages } = this.#phone;
    this.#sectionOf(this.#messages).hidden = messages.length === 0;
    if (messages === this.#shown) return;
    this.#shown = messages;
    this.#messages.replaceChildren(
      ...messages.map(({ from, text }) =>
        element('li', { className: 'card' }, element('h3', {}, from), element('p', { className: 'text' }, text)),
      ),
    );
  }

  /** @param {HTMLElement} list */
  #sectionOf(list) {
    return /** @type {HTMLElement} */ (list.closest('section'));
  }

  /** @param {Call} call */
  #viewOf(call) {
    const { calls } = this.#phone;
    const known = this.#views.get(call);
    if (known !== undefined || calls === undefined) return /** @type {CallView} */ (known);
    const made = new CallView(call, this.#phone, calls);
    this.#views.set(call, made);
    return made;
  }

  /**
   * Puts the cards of calls in order, without touching those that are in place.
   * @param {HTMLElement} list
   * @param {readonly Call[]} calls
   */
  #place(list, calls) {
    const roots = calls.map((call) => this.#viewOf(call).root);
    const now = [...list.children];
    if (now.length !== roots.length || now.some((root, at) => root !== roots[at])) list.replaceChildren(...roots);
  }

  /** True where moving the focus interrupts nobody: it is nowhere, or here. */
  #hasFocus() {
    const { activeElement: focused } = document;
    return focused === null || focused === document.body || this.#root.contains(focused);
  }

  #focusTarget() {
    if (!TOUCH.matches) this.#target.focus();
  }

  /** @param {Call} call */
  #announce(call) {
    if (!call.incoming) return;
    this.#said.textContent = words('callsYou', { name: call.title });
    const { activeElement: focused } = document;
    const types = focused instanceof HTMLInputElement && focused.value !== '';
    if (!types && this.#hasFocus()) queueMicrotask(() => this.#viewOf(call).focus());
  }

  #tick() {
    for (const view of this.#views.values()) view.tick();
  }

  #logOut() {
    this.#phone.logOut();
    this.#login.forget();
  }

  /** Accounts and numbers to try, on a node with demo data. */
  async #suggest() {
    const { accounts, numbers } = await suggestions();
    this.#login.suggest(accounts);
    this.#tried.replaceChildren(
      ...numbers.map(({ number, about }) =>
        element(
          'li',
          {},
          button(`${number} ${about}`, () => void this.#phone.dial(number)),
        ),
      ),
    );
    this.#sectionOf(this.#tried).hidden = numbers.length === 0;
  }
}

/**
 * @param {string} id
 * @param {import('./words.js').Word} title
 * @param {string} className
 * @param {...HTMLElement} content
 */
function section(id, title, className, ...content) {
  const made = element('section', { id, className }, element('h2', { id: `${id}-title` }, word(title)), ...content);
  made.setAttribute('aria-labelledby', `${id}-title`);
  return made;
}
