/** The bar at the top: domain, drawers, keys. */
import type { Signal } from '@preact/signals';
import { changeDomain, session } from '../lib/session.ts';
import type { Drawer } from '../pages.ts';
import { orToast } from '../parts/toasts.tsx';
import { PHONE, phoneCalls, phoneReady } from '../stores/phone.ts';
import { words as pageWords } from '../words/pages.ts';
import { words as phoneWords } from '../words/phone.ts';
import { words } from '../words/shell.ts';

export interface HeadProps {
  readonly menu: Signal<boolean>;
  readonly drawers: readonly Drawer[];
  /** The open one. */
  readonly drawer: string | undefined;
  readonly onDrawer: (id: string) => void;
  readonly onHelp: () => void;
}

/** Whether calls can come in, and how many there are. */
function PhoneState() {
  const { length: n } = phoneCalls.value;
  if (n === 0 && !phoneReady.value) return null;
  const about = n > 0 ? phoneWords('live', { n }) : phoneWords('ready');
  return (
    <span class={n > 0 ? 'live' : 'ready'} role="img" aria-label={about} title={about}>
      {n > 0 && n}
    </span>
  );
}

export function Head({ menu, drawers, drawer, onDrawer, onHelp }: HeadProps) {
  const { domain = '', domains = [] } = session.value ?? {};
  return (
    <header class="top">
      <button
        type="button"
        class="quiet menu"
        aria-controls="pages"
        aria-expanded={menu.value}
        onClick={() => {
          menu.value = !menu.value;
        }}
      >
        ☰ <span class="narrow-hidden">{words('menu')}</span>
      </button>
      <a class="brand" href="#/">
        <img src="/phone/icon.svg" alt="" width={22} height={22} /> <span>Ringmaster</span>
      </a>
      {domains.length > 1 ? (
        <select
          aria-label={words('domain')}
          value={domain}
          onChange={({ currentTarget }) => orToast(changeDomain(currentTarget.value))}
        >
          {domains.map((each) => (
            <option key={each.domain}>{each.domain}</option>
          ))}
        </select>
      ) : (
        <span class="domain">{domain}</span>
      )}
      <span class="space" />
      {drawers.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          aria-expanded={drawer === id}
          aria-controls={`drawer-${id}`}
          onClick={() => onDrawer(id)}
        >
          {pageWords(title)}
          {id === PHONE && <PhoneState />}
        </button>
      ))}
      <button type="button" class="quiet" onClick={onHelp} aria-label={words('keys')} title={words('keys')}>
        ?
      </button>
    </header>
  );
}
