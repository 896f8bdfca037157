/** What the console keeps in this browser. Nothing of it is secret, and all of it may be missing. */
export function kept(name: string, place: Place = 'localStorage'): string | undefined {
  try {
    return globalThis[place].getItem(`ringmaster-${name}`) ?? undefined;
  } catch {
    // Storage is forbidden in this browser.
    return undefined;
  }
}

export function keep(name: string, value: string, place: Place = 'localStorage'): void {
  try {
    globalThis[place].setItem(`ringmaster-${name}`, value);
  } catch {
    // It counts until the page is closed.
  }
}

/** For all windows, or for this one, where it outlives a reload. */
type Place = 'localStorage' | 'sessionStorage';
