/** The list of pages, and the person. */
import { link } from '../lib/router.ts';
import { logOut, session } from '../lib/session.ts';
import type { Page } from '../pages.ts';
import { orToast } from '../parts/toasts.tsx';
import { words as pageWords } from '../words/pages.ts';
import { words } from '../words/shell.ts';
import { LanguageChoice } from './language.tsx';

export interface NavigationProps {
  readonly pages: readonly Page[];
  readonly current: string | undefined;
  /** On narrow screens. */
  readonly isOpen: boolean;
  /** A page is chosen, maybe the present one. */
  readonly onGo: () => void;
}

export function Navigation({ pages, current, isOpen, onGo }: NavigationProps) {
  const { name = '', login = '' } = session.value ?? {};
  return (
    <nav class={isOpen ? 'pages open' : 'pages'} id="pages" aria-label={words('navigation')}>
      {(['operate', 'author', 'mine'] as const)
        .map((group) => ({ group, members: pages.filter((page) => page.group === group) }))
        .filter(({ members }) => members.length > 0)
        .map(({ group, members }) => (
          <section key={group} aria-labelledby={`group-${group}`}>
            <h2 id={`group-${group}`}>{pageWords(group)}</h2>
            <ul>
              {members.map(({ path, title }) => (
                <li key={path}>
                  <a href={link([path])} aria-current={path === current ? 'page' : undefined} onClick={onGo}>
                    {pageWords(title)}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      <section class="person">
        <span class="user" title={login}>
          {name === '' ? login : name}
        </span>
        <LanguageChoice />
        <button type="button" class="quiet" onClick={() => orToast(logOut())}>
          {words('logOut')}
        </button>
      </section>
    </nav>
  );
}
