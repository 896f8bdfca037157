/** The choice of the language. */
import { chooseLanguage, type Language, language } from '../lib/words.ts';
import { words } from '../words/shell.ts';

export function LanguageChoice() {
  return (
    <select
      class="quiet"
      aria-label={words('language')}
      value={language.value}
      onChange={({ currentTarget }) => chooseLanguage(currentTarget.value as Language)}
    >
      <option value="en" lang="en">
        English
      </option>
      <option value="de" lang="de">
        Deutsch
      </option>
    </select>
  );
}
