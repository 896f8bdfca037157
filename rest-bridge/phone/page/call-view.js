/** A call as the page shows it. */
import { button, element, isPhoneKey, keypad, show } from './dom.js';
import { duration } from './words.js';

/** @typedef {import('./call.js').Call} Call */
/** @typedef {import('./calls.js').Calls} Calls */

let made = 0;

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
   * @param {Calls} calls
   */
  constructor(call, calls) {
    this.#call = call;
    this.#calls = calls;
    made += 1;
    const title = element('h3', { id: `call-${made}` }, call.name || call.number);
    const number = element('p', { className: 'number' }, call.name === '' ? '' : call.number);
    number.hidden = call.name === '';
    this.#buttons = {
      answer: button('Answer', () => void calls.answer(call), 'go'),
      end: button('Hang up', () => call.hangUp(), 'stop'),
      hold: button('Hold', () => void calls.setHeld(call, !call.held)),
      mute: button('Mute', () => call.setMuted(!call.muted)),
      keys: button('Keypad', () => this.#toggle(this.#buttons.keys, this.#keypad)),
      transfer: button('Transfer', () => this.#toggle(this.#buttons.transfer, this.#transfer)),
      again: button('Call again', () => void calls.start(call.number)),
    };
    this.#fillPanels();
    const head = element('div', { className: 'head' }, element('div', {}, title, number, this.#state), this.#timer);
    const row = element('div', { className: 'buttons' }, ...Object.values(this.#buttons));
    this.root = element('li', { className: 'card call' }, head, this.#notice, row, this.#keypad, this.#transfer);
    this.root.setAttribute('aria-labelledby', title.id);
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#close();
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
    end.textContent = call.state === 'incoming' ? 'Decline' : 'Hang up';
    for (const one of [hold, mute, keys, transfer]) one.hidden = !talking;
    press(hold, call.held, call.held ? 'Resume' : 'Hold');
    press(mute, call.muted, call.muted ? 'Unmute' : 'Mute');
    if (!talking) this.#close();
    if (this.#digits.value !== call.digits) this.#digits.value = call.digits;
    this.#showOthers();
  }

  /** Shows the time. */
  tick() {
    const { since, until } = this.#call;
    this.#timer.textContent = since === 0 ? '' : duration((until || Date.now()) - since);
  }

  focus() {
    this.#buttons.answer.focus();
  }

  #fillPanels() {
    const call = this.#call;
    this.#digits.setAttribute('aria-label', 'Digits sent');
    this.#keypad.append(
      this.#digits,
      keypad('Digits', (key) => call.send(key)),
    );
    this.#keypad.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !isPhoneKey(event.key)) return;
      event.preventDefault();
      call.send(event.key);
    });
    const label = element('label', {}, 'Transfer to ', this.#target);
    const now = element('button', { type: 'submit', className: 'go' }, 'Transfer now');
    this.#transfer.append(label, element('div', { className: 'buttons' }, now), this.#others);
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
    const names = others.map((one) => `Connect with ${one.name || one.number}`);
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
  if (state === 'calling') return 'Calling…';
  if (state === 'ringing') return 'Ringing…';
  if (state === 'incoming') return 'Calls you';
  if (state === 'answering') return 'Connecting…';
  if (state === 'ended') return missed ? 'Missed call' : incoming ? 'Incoming call' : 'Outgoing call';
  if (transferring !== '') return `Transferring to ${transferring}…`;
  if (held) return 'On hold';
  if (heldThere) return 'The other side holds the call';
  return muted ? 'Connected, you are muted' : 'Connected';
}
