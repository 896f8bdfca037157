/** The list of scenarios. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isFile, type Kind, pathOf, type Script } from '../../authors/scenario-types.ts';
import { ApiError, read } from '../../lib/api.ts';
import { count } from '../../lib/format.ts';
import { closeOver, go, openOver, over, setQuery } from '../../lib/router.ts';
import type { PageProps } from '../../pages.ts';
import { type Column, List } from '../../parts/list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/scenarios.ts';
import { NewScenario } from './new-scenario.tsx';

export interface Listed extends Script {
  readonly kind: Kind;
}

const COLUMNS: readonly Column<Listed>[] = [
  { title: () => words('code'), width: 'minmax(7em, 1fr)', cell: ({ code }) => <code>{code}</code> },
  { title: () => words('name'), width: 'minmax(8em, 2fr)', cell: ({ name }) => name },
  { title: () => words('state'), width: '9em', cell: (script) => <State script={script} /> },
  { title: () => words('origin'), width: '11em', cell: (script) => originOf(script), wide: true },
  { title: () => words('format'), width: '5em', cell: ({ scriptdata }) => scriptdata.format, wide: true },
  { title: () => words('version'), width: '5em', cell: ({ version }) => version, wide: true, number: true },
];

function originOf(script: Listed): string {
  if (isFile(script)) return words('file');
  return words(script.kind === 'svc' ? 'service' : 'domain');
}

export function mistakesOf({ problems }: Pick<Script, 'problems'>): number {
  return problems.filter(({ severity }) => severity === undefined).length;
}

export function mistakeText(mistakes: number): string {
  return mistakes === 1 ? words('oneMistake') : words('mistakes', { n: mistakes });
}

/** What calls get of it. */
export function State({ script }: { readonly script: Script }) {
  const { draft, serving } = script;
  const mistakes = mistakesOf(script);
  if (mistakes > 0) return <span class="badge bad">{mistakeText(mistakes)}</span>;
  if (serving.trial !== undefined) return <span class="badge warn">{words('trial')}</span>;
  if (draft) return <span class="badge warn">{words('draft')}</span>;
  if (serving.version === null) return <span class="badge">{words('unserved')}</span>;
  return <span class="badge good">{words('serves')}</span>;
}

export function ScenarioList({ query }: Pick<PageProps, 'query'>) {
  const all = useSignal<readonly Listed[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const load = (): void => {
    failure.value = undefined;
    readAll().then(
      (found) => (all.value = found),
      (error: unknown) => (failure.value = error),
    );
  };
  useEffect(load, []);
  const filter = query['filter'] ?? '';
  const shown = (all.value ?? []).filter((script) => fits(script, filter.toLowerCase()));
  return (
    <div class="page full">
      <div class="bar">
        <h1>{words('title')}</h1>
        <input
          type="search"
          aria-label={words('filter')}
          placeholder={words('filter')}
          value={filter}
          onInput={({ currentTarget }) => setQuery({ ...query, filter: currentTarget.value })}
        />
        <span class="quiet" role="status">
          {all.value !== undefined && words('shown', { n: count(shown.length), all: count(all.value.length) })}
        </span>
        <span class="space" />
        <button type="button" class="primary" onClick={() => over('new')}>
          {words('create')}
        </button>
      </div>
      <Problem error={failure.value} retry={load} />
      <List
        label={words('title')}
        items={shown}
        columns={COLUMNS}
        onOpen={({ kind, id }) => go(['scenarios', kind, id])}
        empty={all.value === undefined ? '…' : words(filter === '' ? 'none' : 'noMatch')}
      />
      {openOver() === 'new' && <NewScenario onClose={closeOver} />}
    </div>
  );
}

async function readAll(): Promise<readonly Listed[]> {
  const several = await Promise.all((['ivr', 'svc'] as const).map(readKind));
  return several.flat().toSorted((a, b) => a.code.localeCompare(b.code));
}

async function readKind(kind: Kind): Promise<readonly Listed[]> {
  try {
    return (await read<readonly Script[]>(pathOf(kind))).map((script) => ({ ...script, kind }));
  } catch (error) {
    // A role may allow one kind only.
    if (kind === 'svc' && error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}

function fits({ code, name, scriptdata }: Script, filter: string): boolean {
  return filter === '' || [code, name, scriptdata.source].some((text) => text.toLowerCase().includes(filter));
}
