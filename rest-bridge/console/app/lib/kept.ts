/** What the console keeps in this browser. Nothing of it is secret, and all of it may be missing. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(`ringmaster-${name}`) ?? undefined;
  } catch {
    // Storage is forbidden in this browser.
    return undefined;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`ringmaster-${name}`, value);
  } catch {
    // It counts until the page is closed.
  }
}
