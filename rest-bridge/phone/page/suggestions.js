/** Accounts and numbers to try, of a node with demo data. */

/** @typedef {import('./account.js').Account & { name: string }} DemoAccount */
/** @typedef {{ accounts: DemoAccount[], numbers: { number: string, about: string }[] }} Suggestions */

/** @type {Promise<Suggestions> | undefined} */
let asked;

/** @returns {Promise<Suggestions>} empty ones when the node answers none */
export function suggestions() {
  asked ??= ask();
  return asked;
}

/** @returns {Promise<Suggestions>} */
async function ask() {
  const none = { accounts: [], numbers: [] };
  try {
    const answer = await fetch('/phone/suggestions.json');
    return answer.ok ? await answer.json() : none;
  } catch {
    // The node is away: the phone says so itself, and asks again next time.
    asked = undefined;
    return none;
  }
}
