/** The log-in form of the phone. */
import { remember, rememberedAccount } from './account.js';
import { button, element, show, word } from './dom.js';
import { whyNoCalls } from './reasons.js';

/** @typedef {import('./phone.js').Phone} Phone */
/** @typedef {import('./suggestions.js').DemoAccount} DemoAccount */

export class LoginView {
  root = element('form', { id: 'login', className: 'card', hidden: true });
  /** @type {Phone} */
  #phone;
  #login = textField('login', 'username');
  #domain = textField('domain', '');
  #password = element('input', {
    name: 'password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  #rememberName = element('input', { type: 'checkbox', name: 'rememberName' });
  #rememberPassword = element('input', { type: 'checkbox', name: 'rememberPassword' });
  #why = element('p', { className: 'problem' });
  #accounts = element('ul', { className: 'chips' });
  #demo = element(
    'section',
    { hidden: true },
    element('h3', {}, word('demoAccounts')),
    element('p', { className: 'hint' }, word('demoHint')),
    this.#accounts,
  );
  /** A log-in was tried: after a refusal the password is asked for again. */
  #tried = false;

  /**
   * @param {Phone} phone
   * @param {{ login: string, domain: string }} account to begin with, where none is remembered
   */
  constructor(phone, account) {
    this.#phone = phone;
    const kept = rememberedAccount();
    this.#login.value = kept.login ?? account.login;
    this.#domain.value = kept.domain ?? account.domain;
    this.#domain.placeholder = 'example.com';
    this.#password.value = kept.password ?? '';
    this.#rememberName.checked = kept.login !== undefined;
    this.#rememberPassword.checked = kept.password !== undefined;
    this.root.append(
      element('h2', {}, word('logIn')),
      this.#why,
      element('label', {}, word('login'), ' ', this.#login),
      element('label', {}, word('domain'), ' ', this.#domain),
      element('label', {}, word('password'), ' ', this.#password),
      element('label', { className: 'tick' }, this.#rememberName, ' ', word('rememberName')),
      element('label', { className: 'tick' }, this.#rememberPassword, ' ', word('rememberPassword')),
      element('p', { className: 'hint' }, word('rememberHint')),
      element('button', { type: 'submit', className: 'go' }, word('logIn')),
      this.#demo,
    );
    this.root.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  /** Shows what is true now. */
  update() {
    const { line, loggedIn } = this.#phone;
    this.root.hidden = loggedIn;
    show(this.#why, whyNoCalls());
    const trying = line !== undefined && !loggedIn;
    for (const control of this.root.elements)
      if ('disabled' in control) control.disabled = trying || whyNoCalls() !== '';
    const refused = this.#tried && line === undefined && !loggedIn;
    if (trying) this.#tried = true;
    else if (loggedIn || refused) this.#tried = false;
    if (refused) this.#password.focus();
  }

  /** @param {readonly DemoAccount[]} accounts to try */
  suggest(accounts) {
    this.#demo.hidden = accounts.length === 0;
    this.#accounts.replaceChildren(
      ...accounts.map(({ name, login, domain, password }) =>
        element(
          'li',
          {},
          button(name, () => {
            this.#login.value = login;
            this.#domain.value = domain;
            this.#password.value = password;
            this.#submit();
          }),
        ),
      ),
    );
    this.update();
  }

  /** Where a person begins. */
  get firstField() {
    return this.#login.value === '' ? this.#login : this.#password;
  }

  /** After a log-out the password is asked for again. */
  forget() {
    this.#password.value = '';
    this.#login.focus();
  }

  #submit() {
    const account = {
      login: this.#login.value.trim(),
      domain: this.#domain.value.trim(),
      password: this.#password.value,
    };
    remember(account, { name: this.#rememberName.checked, password: this.#rememberPassword.checked });
    this.#phone.logIn(account);
  }
}

/**
 * @param {string} name
 * @param {'username' | ''} autocomplete
 */
function textField(name, autocomplete) {
  const made = element('input', { name, autocapitalize: 'off', spellcheck: false, required: true });
  if (autocomplete !== '') made.autocomplete = autocomplete;
  return made;
}
