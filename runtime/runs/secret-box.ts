import { randomBytes } from 'node:crypto';
import type { Reveal, Secrets } from './ports/policy.ts';

/**
 * Secrets behind placeholders. Placeholders cannot be guessed, so that no text from outside, e.g. from a caller or a web
 * server, can make a scenario send a secret.
 */
export class SecretBox implements Secrets {
  readonly placeholders: Readonly<Record<string, string>>;
  readonly #values = new Map<string, string>();
  readonly #pattern: RegExp;

  /** @param values by name */
  constructor(values: Readonly<Record<string, string>>) {
    const nonce = randomBytes(16).toString('hex');
    const placeholders: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) {
      const placeholder = `{{secret:${name}:${nonce}}}`;
      placeholders[name] = placeholder;
      this.#values.set(placeholder, value);
    }
    this.placeholders = placeholders;
    this.#pattern = new RegExp(`\\{\\{secret:[A-Za-z0-9_]{1,64}:${nonce}\\}\\}`, 'g');
  }

  readonly reveal: Reveal = (text, escape = (value) => value) => {
    if (this.#values.size === 0) return text;
    return text.replaceAll(this.#pattern, (found) => {
      const value = this.#values.get(found);
      return value === undefined ? found : escape(value, found);
    });
  };
}
