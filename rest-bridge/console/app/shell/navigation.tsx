/** The list of pages, and the person. */
import { link } from '../lib/router.ts';
import { logOut, session } from '../lib/session.ts';
import type { Page } from '../pages.ts';
import { orToast } from '../parts/toasts.tsx';
import { endPhone } from '../stores/phone.ts';
import { words as pageWords } from '../words/pages.ts';
import { words } from '../words/shell.ts';
import { LanguageChoice } from './language.tsx';

/** Pixels of the window of the softphone. */
const PHONE = { width: 420, height: 760 };

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
        <a href="/phone" target="ringmaster-phone" onClick={openPhone}>
          {words('phoneWindow')}
        </a>
        <LanguageChoice />
        <button type="button" class="quiet" onClick={() => orToast(logOut(endPhone))}>
          {words('logOut')}
        </button>
      </section>
    </nav>
  );
}

/** In a window beside the console; where the browser allows none, the link opens a tab. */
function openPhone(event: Event): void {
  const left = Math.max(0, screen.availWidth - PHONE.width);
  const size = `width=${PHONE.width},height=${PHONE.height},left=${left}`;
  const opened = window.open('', 'ringmaster-phone', `popup,${size}`);
  if (opened === null) return;
  event.preventDefault();
  // Loading an open phone again would end its call.
  if (opened.location.href === 'about:blank') opened.location.href = '/phone';
  opened.focus();
}
