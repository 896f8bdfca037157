/** The list of runs, live. */
import { useSignal } from '@preact/signals';
import { type ListedRun, searchRuns, STATUSES, type Status } from '../../authors/runs.ts';
import { count, duration, moment } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go, setQuery } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { type Column, List } from '../../parts/list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/run-pages.ts';

const COLUMNS: readonly Column<ListedRun>[] = [
  { title: () => words('started'), width: '13em', cell: ({ ts }) => moment(ts), wide: true },
  { title: () => words('scenario'), width: 'minmax(4em, 1.5fr)', cell: ({ scenario }) => <code>{scenario}</code> },
  { title: () => words('from'), width: 'minmax(3em, 1fr)', cell: ({ from }) => from },
  { title: () => words('to'), width: 'minmax(4em, 1fr)', cell: ({ to }) => to, wide: true },
  {
    title: () => words('status'),
    width: 'minmax(7.5em, 10em)',
    cell: ({ status, error_code }) => <RunBadge status={status} error={error_code} />,
  },
  { title: () => words('version'), width: '5em', cell: ({ version }) => version, wide: true, number: true },
  { title: () => words('steps'), width: '5em', cell: ({ steps }) => steps, wide: true, number: true },
  { title: () => words('lasted'), width: '4em', cell: (run) => <Lasted run={run} />, number: true },
];

export function RunBadge({ status, error }: { readonly status: Status; readonly error?: string | undefined }) {
  const look = {
    running: 'badge live',
    completed: 'badge good',
    ended: 'badge good',
    failed: 'badge bad',
    stopped: 'badge warn',
  };
  return (
    <>
      <span class={look[status]}>{words(status)}</span> {error}
    </>
  );
}

function Lasted({ run: { ts, milliseconds } }: { readonly run: ListedRun }) {
  return <>{duration(milliseconds ?? now.value - ts)}</>;
}

const TYPING_MS = 300;
/** A busy domain has many runs a second. */
const GATHER_MS = 1_000;
const FIRST = 100;
/** The service lists no more at once. */
const MOST = 10_000;
const PERIODS = [
  ['', 'lastDay'],
  ['7', 'lastWeek'],
  ['30', 'lastMonth'],
] as const;

export function RunList({ query }: Pick<PageProps, 'query'>) {
  const { number = '', scenario = '', status = '', days = '' } = query;
  const limit = useSignal(FIRST);
  const timer = useSignal<ReturnType<typeof setTimeout> | undefined>(undefined);
  const load = () => searchRuns({ number, scenario, status, days: Number(days) || 1 }, limit.value);
  const key = JSON.stringify([number, scenario, status, days, limit.value]);
  const live = useLive(load, key, { events: ['runevents.run_begin', 'runevents.run_end'], gatherMs: GATHER_MS });
  const change = (field: string) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    clearTimeout(timer.value);
    limit.value = FIRST;
    // Each letter would be a request.
    timer.value = setTimeout(() => setQuery({ ...query, [field]: value }), TYPING_MS);
  };
  const runs = live.data ?? [];
  const codes = [...new Set([...runs.map((run) => run.scenario), scenario])].filter((code) => code !== '').toSorted();
  return (
    <div class="page full">
      <div class="bar">
        <h1>{words('title')}</h1>
        <input
          type="search"
          aria-label={words('number')}
          placeholder={words('number')}
          defaultValue={number}
          onInput={change('number')}
        />
        <select aria-label={words('scenario')} value={scenario} onChange={change('scenario')}>
          <option value="">{words('anyScenario')}</option>
          {codes.map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
        <select aria-label={words('status')} value={status} onChange={change('status')}>
          <option value="">{words('anyStatus')}</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {words(each)}
            </option>
          ))}
        </select>
        <select aria-label={words('since')} value={days} onChange={change('days')}>
          {PERIODS.map(([value, title]) => (
            <option key={value} value={value}>
              {words(title)}
            </option>
          ))}
        </select>
        <span class="quiet" role="status">
          {live.data !== undefined && words('found', { n: count(runs.length) })}
        </span>
        {runs.length >= limit.value && limit.value < MOST && (
          <button type="button" onClick={() => (limit.value = Math.min(MOST, 2 * limit.value))}>
            {words('more')}
          </button>
        )}
      </div>
      <Problem error={live.problem} retry={live.reload} />
      <List
        label={words('title')}
        items={runs}
        columns={COLUMNS}
        onOpen={({ id }) => go(['runs', id])}
        empty={live.data === undefined ? '…' : words('none')}
      />
    </div>
  );
}
