import { ScenarioError, type Value } from '../../runtime/language/index.ts';

/** Characters of a secret that is looked for: less is found in any text. */
const SHORTEST = 4;

/** Puts the texts that stand for the secrets of a request in their place, where a server or an error repeats them. */
export class Concealer {
  /** By what may be found, longest first, the text that stands for it. */
  #found: readonly (readonly [secret: string, placeholder: string])[] = [];

  add(secret: string, placeholder: string): void {
    // As it is, and as it is in a URL, in a host name, and in JSON.
    const forms = [secret, secret.toLowerCase(), encodeURIComponent(secret), withinJson(secret)];
    const known = new Map([...this.#found, ...forms.map((form) => [form, placeholder] as const)]);
    this.#found = [...known].filter(([form]) => form.length >= SHORTEST).toSorted(([a], [b]) => b.length - a.length);
  }

  text(text: string): string {
    return this.#found.reduce((rest, [secret, placeholder]) => rest.replaceAll(secret, () => placeholder), text);
  }

  value(value: Value): Value {
    if (this.#found.length === 0) return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#found.find(([secret]) => secret === String(value))?.[1] ?? value;
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.value(item)]));
  }

  /** An error whose message, and whose causes, hold no secret. */
  error(error: unknown): unknown {
    if (!(error instanceof Error) || this.#found.length === 0) return error;
    const message = this.text(error.message);
    // What Node.js says is in the message; its error holds the name of the host once more.
    return error instanceof ScenarioError ? new ScenarioError(error.code, message) : new Error(message);
  }
}

/** A text as it is between the quotes of a JSON text. */
export function withinJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
