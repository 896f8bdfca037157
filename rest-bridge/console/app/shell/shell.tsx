/** The frame: head, navigation, the page, drawers. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { feed } from '../lib/feed.ts';
import { onKeys } from '../lib/keys.ts';
import { mayUse } from '../lib/rights.ts';
import { go, replace, route } from '../lib/router.ts';
import { DRAWERS, PAGES } from '../pages.ts';
import { words as pageWords } from '../words/pages.ts';
import { words } from '../words/shell.ts';
import { Head } from './head.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { Lazy } from './lazy.tsx';
import { Navigation } from './navigation.tsx';

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const help = useSignal(false);
  const menu = useSignal(false);
  const drawer = useSignal<string | undefined>(undefined);
  const opened = useSignal<ReadonlySet<string>>(new Set());
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
      ...pages.flatMap(({ key, path: to }) => (key === undefined ? [] : [onKeys(`g ${key}`, () => go([to]))])),
    ];
    return () => ends.forEach((end) => end());
  }, [pages.length]);
  // A new page begins at its top, and a screen reader says its title.
  const heading = page === undefined ? 'Ringmaster' : `${pageWords(page.title)} · Ringmaster`;
  const place = path.join('/');
  useEffect(() => {
    document.title = heading;
    const focused = document.activeElement;
    // What had the focus may be gone with the page before.
    if (focused === null || focused === document.body || focused.closest('nav') !== null)
      main.current?.focus({ preventScroll: true });
  }, [heading, place]);

  // Of small screens: it covers the page.
  useEffect(() => {
    if (!menu.value) return undefined;
    const close = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      menu.value = false;
      document.querySelector<HTMLElement>('button.menu')?.focus();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [menu.value]);

  const toggle = (id: string): void => {
    drawer.value = drawer.value === id ? undefined : id;
    opened.value = new Set([...opened.value, id]);
  };
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {words('skip')}
      </button>
      <Head
        menu={menu}
        drawers={DRAWERS.filter(mayUse)}
        drawer={drawer.value}
        onDrawer={toggle}
        onHelp={() => {
          help.value = true;
        }}
      />
      <Navigation
        pages={pages}
        current={page?.path}
        isOpen={menu.value}
        onGo={() => {
          menu.value = false;
        }}
      />
      <main ref={main} tabIndex={-1}>
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
      {DRAWERS.filter(({ id }) => opened.value.has(id)).map(({ id, title, load }) => (
        <aside key={id} class="drawer" aria-label={pageWords(title)} hidden={drawer.value !== id}>
          <Lazy load={load} props={{}} />
        </aside>
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
