/** `?`: the keys of the console. */
import { allowSingleKeys, singleKeys } from '../lib/keys.ts';
import { mayUse } from '../lib/rights.ts';
import { DRAWERS, PAGES } from '../pages.ts';
import { Dialog } from '../parts/dialog.tsx';
import { words as pageWords } from '../words/pages.ts';
import { words } from '../words/shell.ts';

export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const keys: [string, string][] = [
    ['?', words('keyHelp')],
    ['/', words('keySearch')],
    ['↑ ↓', words('keyArrows')],
    ['Enter', words('keyOpen')],
    ['Esc', words('keyClose')],
    ...DRAWERS.filter(mayUse).map(({ key, title }): [string, string] => [
      key,
      words('keyDrawer', { drawer: pageWords(title) }),
    ]),
    ...PAGES.filter(mayUse).flatMap(({ key, title }): [string, string][] =>
      key === undefined ? [] : [[`g ${key}`, words('keyGo', { page: pageWords(title) })]],
    ),
  ];
  return (
    <Dialog title={words('keysTitle')} onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={({ currentTarget }) => allowSingleKeys(currentTarget.checked)}
        />
        {words('singleKeys')}
      </label>
    </Dialog>
  );
}
