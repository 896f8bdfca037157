/** A call as the page shows it. */
import { button, element, isPhoneKey, keypad, label, show, word } from './dom.js';
import { duration } from './duration.js';
import { words } from './words.js';

/** @typedef {import('./call.js').Call} Call */
/** @typedef {import('./calls.js').Calls} Calls */

/** A card with the buttons of a call. It is made once and then changed, so that the focus stays. */
export class CallView {
  /** @type {HTMLLIElement} */
  root;
  /** @type {Call} */
  #call;
  /** @type {Calls} */
  #calls;
  #state = element('p', { className: 'state' });
  #timer = element('p', { className: 'timer' });
  #notice = element('p', { className: 'notice' });
  #digits = element('output', { className: 'digits' });
  /** @type {Record<'answer' | 'end' | 'hold' | 'mute' | 'keys' | 'transfer' | 'again', HTMLButtonElement>} */
  #buttons;
  #keypad = element('div', { className: 'panel', hidden: true });
  #transfer = element('form', { className: 'panel transfer', hidden: true });
  #target = element('input', { name: 'transferTo', inputMode: 'tel', autocomplete: 'off', spellcheck: false });
  #others = element('div', { className: 'buttons' });

  /**
   * @param {Call} call
   * @param {import('./phone.js').Phone} phone
   * @param {Calls} calls
   */
  constructor(call, phone, calls) {
    this.#call = call;
    this.#calls = calls;
    const title = element('h3', { id: `call-${call.id}` }, call.title);
    const number = element('p', { className: 'number' }, call.name === '' ? '' : call.number);
    number.hidden = call.name === '';
    this.#buttons = {
      answer: button(word('answer'), () => void calls.answer(call), 'go'),
      end: button(words('hangUp'), () => call.hangUp(), 'stop'),
      hold: button(words('hold'), () => void calls.setHeld(call, !call.held)),
      mute: button(words('mute'), () => call.setMuted(!call.muted)),
      keys: button(word('keypad'), () => this.#toggle(this.#buttons.keys, this.#keypad)),
      transfer: button(word('transfer'), () => this.#toggle(this.#buttons.transfer, this.#transfer)),
      again: button(word('callAgain'), () => void phone.dial(call.number)),
    };
    this.#fillPanels();
    const head = element('div', { className: 'head' }, element('div', {}, title, number, this.#state), this.#timer);
    const row = element('div', { className: 'buttons' }, ...Object.values(this.#buttons));
    this.root = element('li', { className: 'card call' }, head, this.#notice, row, this.#keypad, this.#transfer);
    this.root.setAttribute('aria-labelledby', title.id);
    this.root.tabIndex = -1;
    this.root.addEventListener('keydown', (event) => {
      const opener = [this.#buttons.keys, this.#buttons.transfer].find((one) => one.ariaExpanded === 'true');
      if (event.key !== 'Escape' || opener === undefined) return;
      // The page around may close something else by it.
      event.preventDefault();
      this.#close();
      opener.focus();
    });
    this.update();
  }

  /** Shows what is true now. */
  update() {
    const call = this.#call;
    this.root.dataset['state'] = call.state;
    this.#state.textContent = stateInWords(call);
    show(this.#notice, call.notice);
    this.tick();
    const talking = call.state === 'talking';
    const { answer, end, hold, mute, keys, transfer, again } = this.#buttons;
    answer.hidden = call.state !== 'incoming';
    end.hidden = !call.live;
    again.hidden = call.live;
    end.textContent = words(call.state === 'incoming' ? 'decline' : 'hangUp');
    for (const one of [hold, mute, keys, transfer]) one.hidden = !talking;
    press(hold, call.held, words(call.held ? 'resume' : 'hold'));
    press(mute, call.muted, words(call.muted ? 'unmute' : 'mute'));
    if (!talking) this.#close();
    if (this.#digits.value !== call.digits) this.#digits.value = call.digits;
    this.#showOthers();
  }

  /** Shows the time. */
  tick() {
    const { since, until } = this.#call;
    this.#timer.textContent = since === 0 ? '' : duration((until || Date.now()) - since);
  }

  /** Goes to the button that answers, or to the call as a whole. */
  focus() {
    (this.#buttons.answer.hidden ? this.root : this.#buttons.answer).focus();
  }

  #fillPanels() {
    const call = this.#call;
    label(this.#digits, 'digitsSent');
    this.#keypad.append(
      this.#digits,
      keypad('digits', (key) => call.send(key)),
    );
    this.#keypad.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !isPhoneKey(event.key)) return;
      event.preventDefault();
      call.send(event.key);
    });
    const field = element('label', {}, word('transferTo'), ' ', this.#target);
    const now = element('button', { type: 'submit', className: 'go' }, word('transferNow'));
    this.#transfer.append(field, element('div', { className: 'buttons' }, now), this.#others);
    this.#transfer.addEventListener('submit', (event) => {
      event.preventDefault();
      const target = this.#target.value.trim();
      if (target === '') this.#target.focus();
      else this.#calls.transfer(call, target);
    });
  }

  /** Talks that this call can be connected with. */
  #showOthers() {
    const call = this.#call;
    const others = this.#calls.live.filter((one) => one !== call && one.state === 'talking');
    const names = others.map((one) => words('connectWith', { name: one.title }));
    const shown = [...this.#others.children].map((one) => one.textContent);
    if (names.join('\n') === shown.join('\n')) return;
    this.#others.replaceChildren(...others.map((one, at) => button(names[at] ?? '', () => call.connectWith(one))));
  }

  /**
   * @param {HTMLButtonElement} opener
   * @param {HTMLElement} panel
   */
  #toggle(opener, panel) {
    const open = panel.hidden;
    this.#close();
    panel.hidden = !open;
    opener.setAttribute('aria-expanded', String(open));
    if (open) panel.querySelector(/** @type {'input'} */ ('input, .key'))?.focus();
  }

  #close() {
    for (const panel of [this.#keypad, this.#transfer]) panel.hidden = true;
    for (const opener of [this.#buttons.keys, this.#buttons.transfer]) opener.setAttribute('aria-expanded', 'false');
  }
}

/**
 * @param {HTMLButtonElement} which
 * @param {boolean} pressed
 * @param {string} text
 */
function press(which, pressed, text) {
  which.classList.toggle('on', pressed);
  if (which.textContent !== text) which.textContent = text;
}

/** @param {Call} call */
function stateInWords({ state, held, heldThere, muted, transferring, incoming, missed }) {
  if (state === 'calling') return words('stateCalling');
  if (state === 'ringing') return words('stateRinging');
  if (state === 'incoming') return words('stateIncoming');
  if (state === 'answering') return words('stateAnswering');
  if (state === 'ended') return words(missed ? 'stateMissed' : incoming ? 'stateCameIn' : 'stateWentOut');
  if (transferring !== '') return words('stateTransferring', { name: transferring });
  if (held) return words('stateHeld');
  if (heldThere) return words('stateHeldThere');
  return words(muted ? 'stateMuted' : 'stateTalking');
}
