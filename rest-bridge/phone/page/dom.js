/** Elements of the page. */
import { isWord, words } from './words.js';

/** @typedef {import('./words.js').Word} Word */

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Partial<HTMLElementTagNameMap[K]>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/**
 * A text that `translate` says again in another language.
 * @param {Word} key
 */
export function word(key) {
  const made = element('span', {}, words(key));
  made.dataset['word'] = String(key);
  return made;
}

/**
 * Names an element for screen readers, as `word`.
 * @param {HTMLElement} named
 * @param {Word} key
 */
export function label(named, key) {
  named.setAttribute('aria-label', words(key));
  named.dataset['label'] = String(key);
}

/**
 * Says the texts below an element in the present language.
 * @param {HTMLElement} root
 */
export function translate(root) {
  for (const one of root.querySelectorAll('[data-word], [data-label]')) {
    const { word: text, label: name } = /** @type {HTMLElement} */ (one).dataset;
    if (isWord(text)) one.textContent = words(text);
    if (isWord(name)) one.setAttribute('aria-label', words(name));
  }
}

/**
 * A new button.
 * @param {string | Node} text
 * @param {() => void} onClick
 * @param {string} [className]
 */
export function button(text, onClick, className = '') {
  const made = element('button', { type: 'button', className }, text);
  made.addEventListener('click', onClick);
  return made;
}

/**
 * Shows text in an element, or hides the element for an empty one.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function show(place, text) {
  // The same text again would be read aloud again.
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === '';
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
const KEY_NAMES = new Map([
  ['*', /** @type {const} */ ('star')],
  ['#', /** @type {const} */ ('hash')],
]);

/**
 * Twelve keys of a phone.
 * @param {Word} name
 * @param {(key: string) => void} onKey
 */
export function keypad(name, onKey) {
  const keys = KEYS.map((key) => {
    const made = button(key, () => onKey(key), 'key');
    const spoken = KEY_NAMES.get(key);
    if (spoken !== undefined) label(made, spoken);
    return made;
  });
  const group = element('div', { className: 'keypad' }, ...keys);
  group.setAttribute('role', 'group');
  label(group, name);
  return group;
}

/** @param {string} key of a keyboard event */
export function isPhoneKey(key) {
  return KEYS.includes(key);
}
