/** Ended calls: search, and one of them. */
import { useSignal } from '@preact/signals';
import { duration, moment } from '../../lib/format.ts';
import { go, setQuery } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { type Column, List } from '../../parts/list.tsx';
import { PartyToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import { type CallScope, DOMAIN_CALLS } from '../../stores/call-scope.ts';
import { type EndedCall, type HistorySearch, searchHistory } from '../../stores/history.ts';
import { words } from '../../words/history.ts';
import { EndedCallDetail } from './ended-call.tsx';
import { RESULTS, ResultBadge } from './result.tsx';

const COLUMNS: readonly Column<EndedCall>[] = [
  { title: () => words('started'), width: '13em', cell: ({ ts }) => moment(ts), wide: true },
  {
    title: () => words('from'),
    width: 'minmax(5em, 1.5fr)',
    cell: (call) => <PartyToCall name={call.caller_name} number={call.caller_number} inList />,
  },
  {
    title: () => words('to'),
    width: 'minmax(5em, 1.5fr)',
    cell: (call) => <PartyToCall name={call.called_name} number={call.called_number ?? call.dialled} inList />,
  },
  { title: () => words('result'), width: '9em', cell: ({ result }) => <ResultBadge result={result} /> },
  { title: () => words('endedBy'), width: '7em', cell: ({ ended_by }) => ended_by, wide: true },
  { title: () => words('trunk'), width: '7em', cell: ({ trunk }) => trunk, wide: true },
  {
    title: () => words('recorded'),
    width: '7em',
    cell: ({ recordings }) => (recordings.length > 0 ? recordings.length : ''),
    wide: true,
    number: true,
  },
  {
    title: () => words('talked'),
    width: '5em',
    cell: ({ talking_ms }) => (talking_ms === null ? '' : duration(talking_ms)),
    number: true,
  },
];

const TYPING_MS = 300;
const EVERY_MS = 10_000;

export default function HistoryPage(props: PageProps) {
  return <HistoryOf {...props} title={words('title')} scope={DOMAIN_CALLS} />;
}

export interface HistoryOfProps extends PageProps {
  readonly title: string;
  readonly scope: CallScope;
}

/** Search, and one call, for operators and for users. */
export function HistoryOf({ title, scope, rest: [id], query }: HistoryOfProps) {
  const dialog = query['dialog'];
  if (id === undefined && dialog === undefined) return <Search title={title} scope={scope} query={query} />;
  return (
    <EndedCallDetail
      key={id ?? dialog}
      scope={scope}
      id={id ?? ''}
      {...(id === undefined && dialog !== undefined && { dialog })}
    />
  );
}

function Search({ title, scope, query }: Omit<HistoryOfProps, 'rest'>) {
  const search: HistorySearch = {
    text: query['text'] ?? '',
    result: query['result'] ?? '',
    from: query['from'] ?? '',
    to: query['to'] ?? '',
  };
  const live = useLive(() => searchHistory(search, scope.history), JSON.stringify(search), { everyMs: EVERY_MS });
  const timer = useSignal<ReturnType<typeof setTimeout> | undefined>(undefined);
  const change = (field: keyof HistorySearch) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    clearTimeout(timer.value);
    // Each letter would be a request.
    timer.value = setTimeout(() => setQuery({ ...search, [field]: value }), TYPING_MS);
  };
  return (
    <div class="page full">
      <div class="bar">
        <h1>{title}</h1>
        <input
          type="search"
          aria-label={words('search')}
          placeholder={words('search')}
          defaultValue={search.text}
          onInput={change('text')}
        />
        <select aria-label={words('result')} value={search.result} onChange={change('result')}>
          <option value="">{words('anyResult')}</option>
          {RESULTS.map((result) => (
            <option key={result} value={result}>
              {words(result)}
            </option>
          ))}
        </select>
        <label class="check">
          {words('since')}
          <input type="datetime-local" defaultValue={search.from} onChange={change('from')} />
        </label>
        <label class="check">
          {words('until')}
          <input type="datetime-local" defaultValue={search.to} onChange={change('to')} />
        </label>
        <span class="quiet" role="status">
          {live.data !== undefined && words('found', { n: live.data.length })}
        </span>
      </div>
      <Problem error={live.problem} retry={live.reload} />
      <List
        label={title}
        items={live.data ?? []}
        columns={COLUMNS}
        onOpen={(call) => go([scope.pages.history, call.id])}
        empty={words('none')}
      />
    </div>
  );
}
