/** Live calls: the list, and one of them. */
import { useEffect } from 'preact/hooks';
import { clock, count, duration } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go, setQuery } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import type { PageProps } from '../../pages.ts';
import { type Column, List } from '../../parts/list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { type Call, domainCalls } from '../../stores/calls.ts';
import { words } from '../../words/calls.ts';

const COLUMNS: readonly Column<Call>[] = [
  { title: () => words('from'), width: 'minmax(7em, 2fr)', cell: ({ remoteuri }) => party(remoteuri) },
  { title: () => words('to'), width: 'minmax(7em, 2fr)', cell: ({ localuri }) => party(localuri) },
  { title: () => words('state'), width: '7.5em', cell: ({ status }) => <Status status={status} /> },
  { title: () => words('lasts'), width: '5em', cell: ({ startts }) => <Lasts since={startts} />, number: true },
  { title: () => words('since'), width: '7em', cell: ({ startts }) => clock(startts), wide: true, number: true },
  { title: () => words('legs'), width: '4em', cell: ({ legs }) => legs.length, wide: true, number: true },
  { title: () => words('id'), width: '9em', cell: ({ dialogid }) => <code>{dialogid}</code>, wide: true },
];

function Status({ status }: { readonly status: Call['status'] }) {
  return <span class={status === 'dialog' ? 'badge good' : 'badge warn'}>{words(status)}</span>;
}

/** Only this text is drawn anew each second. */
function Lasts({ since }: { readonly since: number }) {
  return <>{duration(now.value - since)}</>;
}

export default function CallsPage({ query }: PageProps) {
  useEffect(() => domainCalls.follow(), []);
  const filter = query['filter'] ?? '';
  const all = domainCalls.list.value;
  const shown = (all ?? []).filter((call) => fits(call, filter.toLowerCase()));
  return (
    <div class="page full">
      <div class="bar">
        <h1>{words('title')}</h1>
        <input
          type="search"
          aria-label={words('filter')}
          placeholder={words('filter')}
          value={filter}
          onInput={({ currentTarget }) => setQuery({ filter: currentTarget.value })}
        />
        <span class="quiet" role="status">
          {all !== undefined && words('shown', { n: count(shown.length), all: count(all.length) })}
        </span>
      </div>
      <Problem error={domainCalls.problem.value} retry={() => domainCalls.refresh()} />
      <List
        label={words('title')}
        items={shown}
        keyOf={({ dialogid }) => dialogid}
        columns={COLUMNS}
        onOpen={({ dialogid }) => go(['calls', dialogid])}
        empty={words(filter === '' ? 'none' : 'noMatch')}
      />
    </div>
  );
}

function fits({ remoteuri, localuri, dialogid, legs }: Call, filter: string): boolean {
  if (filter === '') return true;
  const texts = [remoteuri, localuri, dialogid, ...legs.flatMap((leg) => [leg.remoteuri, leg.callid])];
  return texts.some((text) => text.toLowerCase().includes(filter));
}
