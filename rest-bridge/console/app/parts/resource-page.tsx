/** A page with a list of things and a filter, which stays in the address. */
import type { ComponentChildren } from 'preact';
import { count } from '../lib/format.ts';
import { setQuery } from '../lib/router.ts';
import type { Live } from '../lib/use-live.ts';
import { words } from '../words/shell.ts';
import { type Column, List } from './list.tsx';
import { Problem } from './problem.tsx';

export interface ResourcePageProps<T> {
  readonly title: string;
  readonly live: Live<readonly T[]>;
  readonly columns: readonly Column<T>[];
  /** The texts that the filter looks at. */
  readonly textsOf: (item: T) => readonly (string | null | undefined)[];
  readonly query: Readonly<Record<string, string>>;
  readonly onOpen?: (item: T) => void;
  /** Said when there is nothing at all. */
  readonly empty: string;
  /** More in the bar. */
  readonly children?: ComponentChildren;
}

export function ResourcePage<T>(props: ResourcePageProps<T>) {
  const { title, live, columns, textsOf, query, onOpen, empty, children } = props;
  const filter = query['filter'] ?? '';
  const wanted = filter.toLowerCase();
  const all = live.data ?? [];
  const shown =
    wanted === '' ? all : all.filter((item) => textsOf(item).some((text) => text?.toLowerCase().includes(wanted)));
  return (
    <div class="page full">
      <div class="bar">
        <h1>{title}</h1>
        <input
          type="search"
          aria-label={words('filter')}
          placeholder={words('filter')}
          value={filter}
          onInput={({ currentTarget }) => setQuery({ ...query, filter: currentTarget.value })}
        />
        <span class="quiet" role="status">
          {live.data !== undefined && words('shown', { n: count(shown.length), all: count(all.length) })}
        </span>
        <span class="space" />
        {children}
      </div>
      <Problem error={live.problem} retry={live.reload} />
      <List
        label={title}
        items={shown}
        columns={columns}
        {...(onOpen !== undefined && { onOpen })}
        empty={live.data === undefined ? `${words('loading')} …` : wanted === '' ? empty : words('noMatch')}
      />
    </div>
  );
}
