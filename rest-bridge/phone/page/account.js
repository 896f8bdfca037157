/** The account, kept in the browser only as far as the user ticked. */

/** @typedef {{ login: string, domain: string, password: string }} Account */

const KEY = 'ringmaster-phone';

/** @returns {Partial<Account>} */
export function rememberedAccount() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const text = (/** @type {string} */ name) => (typeof kept[name] === 'string' ? { [name]: kept[name] } : {});
    return { ...text('login'), ...text('domain'), ...text('password') };
  } catch {
    // Damaged, or the browser keeps nothing.
    return {};
  }
}

/**
 * Keeps what was ticked, and forgets the rest.
 * @param {Account} account
 * @param {{ name: boolean, password: boolean }} ticked
 */
export function remember({ login, domain, password }, ticked) {
  try {
    if (ticked.password) localStorage.setItem(KEY, JSON.stringify({ login, domain, password }));
    else if (ticked.name) localStorage.setItem(KEY, JSON.stringify({ login, domain }));
    else localStorage.removeItem(KEY);
  } catch {
    // The browser keeps nothing, as in some private windows.
  }
}

/** After a log-out the password is asked for again. */
export function forgetPassword() {
  const { login, domain } = rememberedAccount();
  if (login !== undefined && domain !== undefined)
    remember({ login, domain, password: '' }, { name: true, password: false });
}
