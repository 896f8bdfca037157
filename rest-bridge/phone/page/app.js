/** The browser phone: the log-in form, then the line and its calls. */
import { forgetPassword, remember, rememberedAccount } from './account.js';
import { CallView } from './call-view.js';
import { Calls } from './calls.js';
import { button, byId, element, field, keypad, show } from './dom.js';
import { Line } from './line.js';
import { Sounds } from './sounds.js';
import { whyNoCalls } from './words.js';

/** @typedef {import('./call.js').Call} Call */

const login = byId('login', HTMLFormElement);
const dial = byId('dial', HTMLFormElement);
const target = field(dial, 'target');
const logout = byId('logout', HTMLButtonElement);
const lineText = byId('line', HTMLElement);
const problem = byId('problem', HTMLElement);
const sounds = new Sounds();
const TITLE = document.title;

/** @type {{ line: Line, calls: Calls, views: Map<Call, CallView> } | undefined} */
let phone;

/** @param {import('./account.js').Account} account */
function open(account) {
  show(problem, '');
  const line = new Line(account);
  const calls = new Calls(line);
  phone = { line, calls, views: new Map() };
  line.addEventListener('change', showLine);
  line.addEventListener('message', (event) => showText(/** @type {CustomEvent} */ (event).detail));
  calls.addEventListener('change', showCalls);
  calls.addEventListener('add', (event) => announce(/** @type {CustomEvent} */ (event).detail));
  calls.addEventListener('problem', (event) => show(problem, /** @type {CustomEvent} */ (event).detail));
  showLine();
  showCalls();
}

function close() {
  phone?.calls.hangUpAll();
  phone?.line.close();
  phone = undefined;
  sounds.play('none');
  byId('texts', HTMLElement).hidden = true;
  byId('texts', HTMLElement).querySelector('ul')?.replaceChildren();
  showCalls();
  showLine();
}

function showLine() {
  const line = phone?.line;
  lineText.dataset['state'] = line?.state ?? 'none';
  show(lineText, line?.text ?? '');
  const refused = line !== undefined && line.state === 'refused' && !line.hasRegistered;
  if (refused) {
    show(problem, line.text);
    phone = undefined;
    lineText.dataset['state'] = 'none';
    show(lineText, '');
    field(login, 'password').focus();
  }
  const trying = phone !== undefined && !phone.line.hasRegistered;
  login.hidden = phone !== undefined && phone.line.hasRegistered;
  for (const control of login.elements) if ('disabled' in control) control.disabled = trying || whyNoCalls() !== '';
  logout.hidden = phone === undefined;
  const wasHidden = byId('phone', HTMLElement).hidden;
  byId('phone', HTMLElement).hidden = !login.hidden;
  if (wasHidden && login.hidden) focusTarget();
  if (refused) field(login, 'password').focus();
}

function showCalls() {
  /** @type {{ live: Call[], ended: Call[] }} */
  const { live, ended } = phone?.calls ?? { live: [], ended: [] };
  if (phone !== undefined) for (const call of live) viewOf(call).update();
  place(byId('calls', HTMLElement), live);
  place(byId('past', HTMLElement), ended);
  for (const call of ended) viewOf(call).update();
  for (const call of phone?.views.keys() ?? [])
    if (!live.includes(call) && !ended.includes(call)) phone?.views.delete(call);
  byId('no-calls', HTMLElement).hidden = live.length > 0;
  byId('ended', HTMLElement).hidden = ended.length === 0;
  // The button that ended a call is gone.
  if (document.activeElement === document.body && login.hidden) focusTarget();
  const incoming = live.find(({ state }) => state === 'incoming');
  const talking = live.some(({ state }) => state === 'talking');
  const ringing = live.some(({ state }) => state === 'ringing');
  if (incoming !== undefined) sounds.play(talking ? 'waiting' : 'incoming');
  // A server that sends sound of its own, such as an announcement, is not drowned out.
  else sounds.play(ringing && !talking && !live.some(({ audio }) => audio.srcObject !== null) ? 'ringing' : 'none');
  document.title = incoming === undefined ? TITLE : `${incoming.name || incoming.number} calls – ${TITLE}`;
}

/** @param {Call} call */
function viewOf(call) {
  if (phone === undefined) throw new Error('no phone is open');
  const view = phone.views.get(call) ?? new CallView(call, phone.calls);
  phone.views.set(call, view);
  return view;
}

/**
 * Puts the cards of calls in order, without touching those that are in place.
 * @param {HTMLElement} list
 * @param {Call[]} calls
 */
function place(list, calls) {
  const roots = calls.map((call) => viewOf(call).root);
  const now = [...list.children];
  if (now.length !== roots.length || now.some((root, at) => root !== roots[at])) list.replaceChildren(...roots);
}

/** @param {{ from: string, text: string }} message */
function showText({ from, text }) {
  const section = byId('texts', HTMLElement);
  const card = element('li', { className: 'card' }, element('h3', {}, from), element('p', { className: 'text' }, text));
  section.querySelector('ul')?.prepend(card);
  section.hidden = false;
}

/** For whoever has a keyboard; on a touch screen the focus would open one. */
function focusTarget() {
  if (matchMedia('(pointer: fine)').matches) target.focus();
}

/** @param {Call} call */
function announce(call) {
  show(problem, '');
  if (!call.incoming) return;
  byId('said', HTMLElement).textContent = `${call.name || call.number} calls you`;
  // Whoever types is not interrupted.
  const { activeElement: focused } = document;
  if (!(focused instanceof HTMLInputElement) || focused.value === '') queueMicrotask(() => viewOf(call).focus());
}

/** @param {string} number */
async function dialNumber(number) {
  show(problem, '');
  if (phone === undefined || number === '') return target.focus();
  if (phone.line.state !== 'registered') return show(problem, `No call can be made now. ${phone.line.text}`);
  if (await phone.calls.start(number)) target.value = '';
}

login.addEventListener('submit', (event) => {
  event.preventDefault();
  const [name, domain] = [field(login, 'login').value.trim(), field(login, 'domain').value.trim()];
  const account = { login: name, domain, password: field(login, 'password').value };
  remember(account, {
    name: field(login, 'rememberName').checked,
    password: field(login, 'rememberPassword').checked,
  });
  start(account);
});

dial.addEventListener('submit', (event) => {
  event.preventDefault();
  void dialNumber(target.value.trim());
});

logout.addEventListener('click', () => {
  close();
  forgetPassword();
  field(login, 'password').value = '';
  field(login, 'login').focus();
});

document.addEventListener('click', () => sounds.allow());
addEventListener('beforeunload', (event) => {
  if (phone?.calls.live.some(({ state }) => state === 'talking')) event.preventDefault();
});
addEventListener('pagehide', () => close());
setInterval(() => {
  for (const view of phone?.views.values() ?? []) view.tick();
}, 1000);

/** @param {import('./account.js').Account} account */
function start(account) {
  try {
    open(account);
  } catch {
    show(problem, 'Login or domain has characters that no SIP address has.');
  }
}

/** Accounts and numbers to try, on a node with demo data. */
async function suggest() {
  const answer = await fetch('/phone/suggestions.json');
  /** @type {{ accounts: (import('./account.js').Account & { name: string })[], numbers: { number: string, about: string }[] }} */
  const { accounts, numbers } = answer.ok ? await answer.json() : { accounts: [], numbers: [] };
  fill('demo-accounts', accounts, ({ name, ...account }) =>
    button(name, () => {
      for (const key of /** @type {const} */ (['login', 'domain', 'password'])) field(login, key).value = account[key];
      login.requestSubmit();
    }),
  );
  fill('demo-numbers', numbers, ({ number, about }) => button(`${number} ${about}`, () => void dialNumber(number)));
}

/**
 * @template T
 * @param {string} id
 * @param {T[]} entries
 * @param {(entry: T) => HTMLElement} make
 */
function fill(id, entries, make) {
  const section = byId(id, HTMLElement);
  section.hidden = entries.length === 0;
  section.querySelector('ul')?.replaceChildren(...entries.map((entry) => element('li', {}, make(entry))));
}

byId('keypad', HTMLElement).replaceWith(
  keypad('Keypad', (key) => {
    target.value += key;
  }),
);
const kept = rememberedAccount();
field(login, 'login').value = kept.login ?? '';
field(login, 'domain').value = kept.domain ?? '';
field(login, 'password').value = kept.password ?? '';
field(login, 'rememberName').checked = kept.login !== undefined;
field(login, 'rememberPassword').checked = kept.password !== undefined;
showLine();
show(problem, whyNoCalls());
void suggest();
