/** Live calls: the list, and one of them. */
import { useEffect } from 'preact/hooks';
import { clock, duration } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import type { PageProps } from '../../pages.ts';
import type { Column } from '../../parts/list.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { type Call, domainCalls } from '../../stores/calls.ts';
import { words } from '../../words/calls.ts';
import { CallDetail } from './call-detail.tsx';
import { NewCall } from './new-call.tsx';

const COLUMNS: readonly Column<Call>[] = [
  { title: () => words('from'), width: 'minmax(5em, 2fr)', cell: ({ remoteuri }) => party(remoteuri) },
  { title: () => words('to'), width: 'minmax(5em, 2fr)', cell: ({ localuri }) => party(localuri) },
  { title: () => words('state'), width: '7em', cell: ({ status }) => <Status status={status} /> },
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

export default function CallsPage({ rest: [id], query }: PageProps) {
  return id === undefined ? <CallsList query={query} /> : <CallDetail key={id} id={id} />;
}

function CallsList({ query }: Pick<PageProps, 'query'>) {
  useEffect(() => domainCalls.follow(), []);
  return (
    <ResourcePage
      title={words('title')}
      live={{
        data: domainCalls.list.value,
        problem: domainCalls.problem.value,
        reload: () => domainCalls.refresh(),
      }}
      columns={COLUMNS}
      textsOf={textsOf}
      query={query}
      onOpen={({ dialogid }) => go(['calls', dialogid])}
      empty={words('none')}
    >
      <NewCall />
    </ResourcePage>
  );
}

function textsOf({ remoteuri, localuri, dialogid, legs }: Call): string[] {
  return [remoteuri, localuri, dialogid, ...legs.flatMap((leg) => [leg.remoteuri, leg.callid])];
}
