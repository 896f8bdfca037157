/** What the person's roles allow. Roles are data of each domain, so the service is asked. */
import { signal } from '@preact/signals';
import { DRAWERS, PAGES } from '../pages.ts';
import { ApiError, read } from './api.ts';

/** The requests that are allowed, of those that pages need; undefined until they are known. */
export const allowed = signal<ReadonlySet<string> | undefined>(undefined);

/** Asks once a session. */
export async function findRights(): Promise<void> {
  const needed = new Set([...PAGES, ...DRAWERS].flatMap(({ needs }) => needs ?? []));
  const found = await Promise.all([...needed].map(async (path) => ((await isAllowed(path)) ? [path] : [])));
  allowed.value = new Set(found.flat());
}

/** Lists answer one item. A failure other than a refusal is shown by the page itself. */
async function isAllowed(path: string): Promise<boolean> {
  try {
    await read(path, path === '/api/cluster' ? undefined : { limit: 1 });
    return true;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 403);
  }
}

/** True for a page that the person may use. */
export function mayUse({ needs }: { readonly needs?: string }): boolean {
  return needs === undefined || allowed.value?.has(needs) === true;
}
