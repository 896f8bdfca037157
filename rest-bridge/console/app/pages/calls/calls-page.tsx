/** Live calls: the list, and one of them. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { clock, duration } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import type { PageProps } from '../../pages.ts';
import type { Column } from '../../parts/list.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { type CallScope, DOMAIN_CALLS } from '../../stores/call-scope.ts';
import { type Call, domainCalls, type LiveCalls } from '../../stores/calls.ts';
import { words } from '../../words/calls.ts';
import { CallDetail } from './call-detail.tsx';
import { NewCall } from './new-call.tsx';

const COLUMNS: readonly Column<Call>[] = [
  { title: () => words('from'), width: 'minmax(3.5em, 2fr)', cell: ({ remoteuri }) => party(remoteuri) },
  { title: () => words('to'), width: 'minmax(3.5em, 2fr)', cell: ({ localuri }) => party(localuri) },
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
  if (id !== undefined) return <CallDetail key={id} id={id} scope={DOMAIN_CALLS} />;
  return (
    <CallsList title={words('title')} calls={domainCalls} scope={DOMAIN_CALLS} query={query}>
      <NewCall />
    </CallsList>
  );
}

export interface CallsListProps extends Pick<PageProps, 'query'> {
  readonly title: string;
  readonly calls: LiveCalls;
  readonly scope: CallScope;
  /** More in the bar. */
  readonly children?: ComponentChildren;
}

/** The list of live calls, for operators and for users. */
export function CallsList({ title, calls, scope, query, children }: CallsListProps) {
  useEffect(() => calls.follow(), [calls]);
  return (
    <ResourcePage
      title={title}
      live={{
        data: calls.list.value,
        problem: calls.problem.value,
        reload: () => calls.refresh(),
      }}
      columns={COLUMNS}
      textsOf={textsOf}
      query={query}
      onOpen={({ dialogid }) => go([scope.pages.calls, dialogid])}
      empty={words(scope.own ? 'noneOfMine' : 'none')}
    >
      {children}
    </ResourcePage>
  );
}

function textsOf({ remoteuri, localuri, dialogid, legs }: Call): string[] {
  return [remoteuri, localuri, dialogid, ...legs.flatMap((leg) => [leg.remoteuri, leg.callid])];
}
