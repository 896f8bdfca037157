/** The operations of the last hour, and the milestones of one. */
import { read } from '../../lib/api.ts';
import { clock } from '../../lib/format.ts';
import { go, link } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import type { Column } from '../../parts/list.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { Timeline } from '../../parts/timeline.tsx';
import { userNames } from '../../stores/user-names.ts';
import type { OperationRecord } from '../../stores/operation-record.ts';
import { words } from '../../words/operations.ts';

const COLUMNS: readonly Column<OperationRecord>[] = [
  { title: () => words('started'), width: '5.5em', cell: ({ startts }) => clock(startts) },
  { title: () => words('operation'), width: 'minmax(6em, 1fr)', cell: ({ operation }) => operation },
  { title: () => words('byUser'), width: 'minmax(6em, 1fr)', cell: ({ userid }) => <By id={userid} />, wide: true },
  {
    title: () => words('milestones'),
    width: 'minmax(8em, 2fr)',
    cell: ({ milestones }) => milestones.map(({ milestone }) => milestone).join(', '),
    wide: true,
  },
  { title: () => words('result'), width: '7em', cell: (record) => <Result record={record} /> },
  { title: () => words('took'), width: '5em', cell: tookOf, number: true },
];

function By({ id }: { readonly id: string | undefined }) {
  return <>{id === undefined ? words('scenario') : userNames.nameOf(id)}</>;
}

function Result({ record: { result, endts } }: { readonly record: OperationRecord }) {
  if (endts === undefined) return <span class="badge warn">{words('running')}</span>;
  return <span class={result === 'ok' ? 'badge good' : 'badge bad'}>{result}</span>;
}

function tookOf({ startts, endts }: OperationRecord): string {
  return endts === undefined ? '' : `${((endts - startts) / 1000).toFixed(1)} s`;
}

const EVERY_MS = 5_000;

export default function OperationsPage({ rest: [id], query }: PageProps) {
  return id === undefined ? <Log query={query} /> : <One key={id} id={id} />;
}

function Log({ query }: Pick<PageProps, 'query'>) {
  const live = useLive(
    () => read<OperationRecord[]>('/uc/operations', { order: [{ startts: 'desc' }], limit: 300 }),
    'log',
    { events: ['callevents.operation_finished'], everyMs: EVERY_MS },
  );
  return (
    <ResourcePage
      title={words('title')}
      live={live}
      columns={COLUMNS}
      textsOf={({ id, operation, result, userid }) => [id, operation, result, userNames.nameOf(userid ?? '')]}
      query={query}
      onOpen={(record) => go(['operations', record.id])}
      empty={words('none')}
    />
  );
}

function One({ id }: { readonly id: string }) {
  const record = useLive(() => read<OperationRecord>(`/uc/operations/${encodeURIComponent(id)}`), id);
  return (
    <div class="page">
      <div class="bar">
        <a href={link(['operations'])}>← {words('title')}</a>
        <h1>{record.data?.operation ?? id}</h1>
        {record.data !== undefined && <Result record={record.data} />}
      </div>
      <section class="card">
        <h2>{words('timeline')}</h2>
        <Timeline id={id} />
      </section>
    </div>
  );
}
