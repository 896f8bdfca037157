/** Conceals secrets in answers and errors. */
import { ScenarioError, type Value } from '../../runtime/language/index.ts';

/** Minimum length of a concealed secret: shorter ones occur in any text. */
const SHORTEST = 4;

/** Replaces the secrets of a request by their placeholders where a server or an error repeats them. */
export class Concealer {
  /** Placeholders by the forms of their secrets, longest first. */
  #found: readonly (readonly [secret: string, placeholder: string])[] = [];

  add(secret: string, placeholder: string): void {
    // The secret itself, and its forms in a URL, in a host name, and in JSON.
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

  /** An error without secrets in its message and causes. */
  error(error: unknown): unknown {
    if (!(error instanceof Error) || this.#found.length === 0) return error;
    const message = this.text(error.message);
    // The message already has Node's text; its error object would repeat the host name.
    return error instanceof ScenarioError ? new ScenarioError(error.code, message) : new Error(message);
  }
}

/** A text as escaped within a JSON string. */
export function withinJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
