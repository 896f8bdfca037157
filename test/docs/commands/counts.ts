import type { Terminal } from './terminal.ts';

/** Live things of a node, and sessions, which are not listed. */
const NOT_COUNTED = ['registrations', 'sessions'];

/**
 * How many entities each collection and each class has.
 * @param terminal with a session in `API` and `AUTH`
 */
export async function countsOf(terminal: Terminal): Promise<Readonly<Record<string, number>>> {
  const ask = async <T>(path: string): Promise<T> =>
    JSON.parse(await terminal.run(`curl -s -g "$API"'${path}' -H "$AUTH"`)) as T;
  const year = new Date().getFullYear();
  const interval = encodeURIComponent(JSON.stringify([`${year - 1}-01-01`, `${year + 2}-01-01`]));
  const counts: Record<string, number> = {};
  for (const section of ['domain', 'iam']) {
    for (const name of await ask<string[]>(`/${section}/`)) {
      if (NOT_COUNTED.includes(name)) continue;
      counts[`${section}/${name}`] = (await ask<{ count: number }>(`/${section}/${name}?countonly=true`)).count;
    }
  }
  const classes = await ask<{ classname: string; storage_mode: string }[]>('/domain/classes');
  for (const { classname, storage_mode: mode } of classes) {
    const query = mode === 'category' ? '' : `&interval=${interval}`;
    if (!['category', 'history', 'transactionlog'].includes(mode)) continue;
    counts[`model/${classname}`] = (await ask<{ count: number }>(`/model/${classname}?countonly=true${query}`)).count;
  }
  counts['uc/history'] = (await ask<{ count: number }>(`/uc/history?countonly=true&interval=${interval}`)).count;
  return counts;
}
