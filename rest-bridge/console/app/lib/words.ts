/** Words in two languages. Each file of `words/` is a catalogue; types leave no key without a text. */
import { signal } from '@preact/signals';
import { kept, keep } from './kept.ts';

export type Language = 'en' | 'de';

/** Texts by key, English and German. `{name}` stands for a value. */
export type Texts = Readonly<Record<string, readonly [english: string, german: string]>>;
export type Values = Readonly<Record<string, string | number>>;

/** The language of the page: the chosen one, else the browser's. */
export const language = signal<Language>(preferred());

function preferred(): Language {
  const chosen = kept('language');
  if (chosen === 'en' || chosen === 'de') return chosen;
  return globalThis.navigator?.language.startsWith('de') ? 'de' : 'en';
}

export function chooseLanguage(chosen: Language): void {
  language.value = chosen;
  keep('language', chosen);
}

/** Makes the function that answers texts of a catalogue in the language of the page. */
export function catalogue<T extends Texts>(texts: T): (key: keyof T & string, values?: Values) => string {
  return (key, values) => {
    const both = texts[key];
    const text = both?.[language.value === 'de' ? 1 : 0] ?? key;
    return values === undefined ? text : filled(text, values);
  };
}

function filled(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
