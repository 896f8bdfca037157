/** The frame: head, navigation, the page, drawers. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { closeDrawer, isCovered, openDrawer, returnFocus, toggleDrawer } from '../lib/drawer.ts';
import { feed } from '../lib/feed.ts';
import { onKeys } from '../lib/keys.ts';
import { mayUse } from '../lib/rights.ts';
import { go, replace, route } from '../lib/router.ts';
import { DRAWERS, PAGES } from '../pages.ts';
import { phoneCalls, resumePhone } from '../stores/phone.ts';
import { words as pageWords } from '../words/pages.ts';
import { words as phoneWords } from '../words/phone.ts';
import { words } from '../words/shell.ts';
import { CallBar } from '../parts/call-bar.tsx';
import { Head } from './head.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { Lazy } from './lazy.tsx';
import { Navigation } from './navigation.tsx';

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const help = useSignal(false);
  const menu = useSignal(false);
  const drawer = openDrawer.value;
  const covered = isCovered.value;
  const opened = useRef(new Set<string>());
  if (drawer !== undefined) opened.current.add(drawer);
  const pages = PAGES.filter(mayUse);
  const { path, query } = route.value;
  const [name, ...rest] = path;
  const page = pages.find((each) => each.path === name);
  const first = pages[0]?.path;
  useEffect(() => {
    if (name === undefined && first !== undefined) replace([first]);
  }, [name, first]);

  useEffect(() => {
    const ends = [
      onKeys('?', () => {
        help.value = true;
      }),
      onKeys('/', () => document.querySelector<HTMLInputElement>('main input[type=search]')?.focus()),
      ...DRAWERS.filter(mayUse).map(({ id, key }) => onKeys(key, () => toggleDrawer(id))),
      ...pages.flatMap(({ key, path: to }) => (key === undefined ? [] : [onKeys(`g ${key}`, () => go([to]))])),
    ];
    return () => ends.forEach((end) => end());
  }, [pages.length]);
  useEffect(resumePhone, []);
  // A new page begins at its top, and a screen reader says its title.
  const heading = page === undefined ? 'Ringmaster' : `${pageWords(page.title)} · Ringmaster`;
  const place = path.join('/');
  const caller = phoneCalls.value.find(({ state }) => state === 'incoming')?.title;
  useEffect(() => {
    document.title = caller === undefined ? heading : `${phoneWords('callsYou', { name: caller })} · ${heading}`;
  }, [heading, caller]);
  useEffect(() => {
    const focused = document.activeElement;
    // What had the focus may be gone with the page before.
    if (focused === null || focused === document.body || focused.closest('nav') !== null)
      main.current?.focus({ preventScroll: true });
  }, [heading, place]);

  // On small screens the menu and a drawer cover the page.
  useEffect(() => {
    if (!menu.value && drawer === undefined) return undefined;
    const close = ({ key, target, defaultPrevented }: KeyboardEvent): void => {
      // A dialog closes alone.
      if (key !== 'Escape' || defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      if (menu.value) {
        menu.value = false;
        document.querySelector<HTMLElement>('button.menu')?.focus();
      } else if ((target as Element).closest('main, nav') === null) closeDrawer();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [menu.value, drawer]);
  useEffect(() => {
    if (isCovered.value) closeDrawer(main.current);
  }, [place]);
  const drawerBefore = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (drawer === undefined && drawerBefore.current !== undefined) returnFocus(drawerBefore.current);
    drawerBefore.current = drawer;
  }, [drawer]);

  return (
    <>
      <button type="button" class="skip" hidden={covered} onClick={() => main.current?.focus()}>
        {words('skip')}
      </button>
      <Head
        menu={menu}
        drawers={DRAWERS.filter(mayUse)}
        drawer={drawer}
        onDrawer={toggleDrawer}
        onHelp={() => {
          help.value = true;
        }}
      />
      <CallBar />
      <Navigation
        pages={pages}
        current={page?.path}
        isOpen={menu.value}
        onGo={() => {
          menu.value = false;
        }}
      />
      <main ref={main} tabIndex={-1} inert={covered}>
        {!feed.connected.value && (
          <p class="offline" role="status">
            {words('offline')}
          </p>
        )}
        {page === undefined ? (
          name !== undefined && <p class="empty">{words('noPage')}</p>
        ) : (
          <Lazy key={page.path} load={page.load} props={{ rest, query }} />
        )}
      </main>
      {DRAWERS.filter(({ id }) => opened.current.has(id)).map(({ id, title, load }) => (
        <div
          key={id}
          id={`drawer-${id}`}
          class={covered ? 'drawer covers' : 'drawer'}
          // A page has one of these.
          role={covered ? 'main' : 'complementary'}
          aria-label={pageWords(title)}
          hidden={drawer !== id}
        >
          <div class="title">
            {covered ? <h1>{pageWords(title)}</h1> : <h2>{pageWords(title)}</h2>}
            <button
              type="button"
              class="quiet"
              aria-label={words('closeDrawer', { drawer: pageWords(title) })}
              onClick={() => closeDrawer()}
            >
              ×
            </button>
          </div>
          <Lazy load={load} props={{}} />
        </div>
      ))}
      {help.value && (
        <KeysDialog
          onClose={() => {
            help.value = false;
          }}
        />
      )}
    </>
  );
}
