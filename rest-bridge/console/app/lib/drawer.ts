/** Which drawer is open. It stays open from page to page. */
import { computed, signal } from '@preact/signals';

export const openDrawer = signal<string | undefined>(undefined);

/** Beside a drawer the page would have less than 320 pixels. */
const small = matchMedia('(max-width: 860px)');
const isSmall = signal(small.matches);
small.addEventListener('change', ({ matches }) => {
  isSmall.value = matches;
});

/** The open drawer takes the place of the page, which is out of reach meanwhile. */
export const isCovered = computed(() => isSmall.value && openDrawer.value !== undefined);

/** What had the focus when it was opened. */
let opener: Element | null = null;

export function showDrawer(id: string): void {
  if (openDrawer.value === id) return;
  const focused = document.activeElement;
  // Rows of a list change, and keys are for the list as a whole.
  opener = focused?.closest('[role=grid]') ?? focused;
  openDrawer.value = id;
}

/** @param next gets the focus; where it was before the drawer was opened, unless given */
export function closeDrawer(next = opener): void {
  opener = next;
  openDrawer.value = undefined;
}

/** Opens a drawer, or closes the open one. */
export function toggleDrawer(id: string): void {
  if (openDrawer.value === id) closeDrawer();
  else showDrawer(id);
}

/** After a drawer was closed: the focus goes back to where it was, unless a person took it elsewhere. */
export function returnFocus(id: string): void {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body && focused.closest('.drawer') === null) return;
  const isThere =
    opener !== document.body && opener?.isConnected === true && opener.checkVisibility({ visibilityProperty: true });
  const target = isThere ? opener : document.querySelector(`[aria-controls="drawer-${id}"]`);
  if (target instanceof HTMLElement) target.focus();
}
