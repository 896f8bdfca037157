/** Elements of the page. */

/**
 * The element with an id.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind its class
 * @returns {T}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}

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
 * A new button.
 * @param {string} text
 * @param {() => void} onClick
 * @param {string} [className]
 */
export function button(text, onClick, className = '') {
  const made = element('button', { type: 'button', className }, text);
  made.addEventListener('click', onClick);
  return made;
}

/**
 * The field of a form.
 * @param {HTMLFormElement} form
 * @param {string} name
 * @returns {HTMLInputElement}
 */
export function field(form, name) {
  const found = form.elements.namedItem(name);
  if (!(found instanceof HTMLInputElement)) throw new Error(`the form has no field ${name}`);
  return found;
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
  ['*', 'star'],
  ['#', 'hash'],
]);

/**
 * Twelve keys of a phone.
 * @param {string} label
 * @param {(key: string) => void} onKey
 */
export function keypad(label, onKey) {
  const keys = KEYS.map((key) => {
    const made = button(key, () => onKey(key), 'key');
    const name = KEY_NAMES.get(key);
    if (name !== undefined) made.setAttribute('aria-label', name);
    return made;
  });
  const group = element('div', { className: 'keypad' }, ...keys);
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', label);
  return group;
}

/** @param {string} key of a keyboard event */
export function isPhoneKey(key) {
  return KEYS.includes(key);
}
