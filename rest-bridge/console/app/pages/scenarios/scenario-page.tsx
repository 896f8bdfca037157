/** One scenario: the editor, the graph beside it, and what the checker says. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import Editor from '../../authors/editor/editor.tsx';
import { keptTests } from '../../authors/kept-tests.ts';
import { litAt } from '../../authors/graph/way.ts';
import { GraphView } from '../../authors/graph/graph-view.tsx';
import { OpenScenario } from '../../authors/open-scenario.ts';
import type { Run, Tested } from '../../authors/run-types.ts';
import { type Graph, isFile, type Kind, type Problem as Mistake } from '../../authors/scenario-types.ts';
import { mayUse } from '../../lib/rights.ts';
import { go, link, replace, route } from '../../lib/router.ts';
import type { PageProps } from '../../pages.ts';
import { Problem } from '../../parts/problem.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { orToast, toast } from '../../parts/toasts.tsx';
import { words as runWords } from '../../words/runs.ts';
import { words } from '../../words/scenarios.ts';
import { words as versionWords } from '../../words/versions.ts';
import { mistakesOf, State } from './scenario-list.tsx';
import { Problems } from './problems.tsx';
import { FIRST_TEST, TestsPanel } from './tests-panel.tsx';
import { VersionsPanel } from './versions-panel.tsx';
import { ConflictDialog } from './conflict-dialog.tsx';
import { TryPanel } from './try-panel.tsx';

export interface ScenarioPageProps {
  readonly kind: Kind;
  readonly id: string;
  readonly query: PageProps['query'];
}

export default function ScenarioPage({ kind, id, query }: ScenarioPageProps) {
  const open = useMemo(() => new OpenScenario(kind, id), [kind, id]);
  const line = useSignal<{ readonly line: number; readonly turn: number } | undefined>(undefined);
  const cursor = useSignal(1);
  const tab = VIEWS.find((each) => each === query['view']) ?? 'check';
  const step = useSignal(0);
  const tried = {
    steps: useSignal(''),
    from: useSignal(''),
    to: useSignal(''),
    run: useSignal<Run | undefined>(undefined),
  };
  const tests = {
    text: useSignal(FIRST_TEST),
    tested: useSignal<Tested | undefined>(undefined),
    run: useSignal<Run | undefined>(undefined),
  };
  useEffect(() => {
    void open.load().then(() => {
      const kept = keptTests(open.script.value?.ext ?? {});
      if (kept !== '') tests.text.value = kept;
    });
    return () => open.close();
  }, [open]);
  const { value: script } = open.script;
  const goTo = (to: number): void => {
    line.value = { line: to, turn: (line.value?.turn ?? 0) + 1 };
  };
  if (script === undefined)
    return open.failure.value === undefined ? null : (
      <Problem error={open.failure.value} retry={() => void open.load()} />
    );
  const graph = open.graph.value;
  const played = tab === 'try' ? tried.run.value : tab === 'tests' ? tests.run.value : undefined;
  const problems = open.problems.value;
  return (
    <div class="page full scenario">
      <Bar open={open} kind={kind} />
      {open.conflict.value !== undefined && <ConflictDialog open={open} />}
      <Problem error={open.failure.value} />
      {open.restored.value && (
        <p class="offline" role="status">
          {words('restored')}
        </p>
      )}
      <div class="workplace">
        <section class="text" aria-label={words('text', { code: script.code })}>
          <Editor
            label={words('text', { code: script.code })}
            format={script.scriptdata.format}
            text={open.text.value}
            turn={open.replaced.value}
            problems={problems}
            line={line.value}
            onChange={(text) => open.typed(text)}
            onSave={() => void save(open, kind, script.draft)}
            onLine={(at) => (cursor.value = at)}
          />
          <p class="hint">{words('editorHelp')}</p>
        </section>
        <div class="beside">
          <GraphView
            graph={graph}
            {...(played !== undefined && litAt(graph, played.trace, step.value))}
            marked={played === undefined ? nodeAt(graph, cursor.value) : undefined}
            wrong={nodesOf(graph, problems)}
            onOpen={goTo}
          />
          <Tabs
            label={words('views')}
            tabs={tabs()}
            chosen={tab}
            onChoose={(view) => view !== tab && go(['scenarios', kind, id], view === 'check' ? {} : { view })}
          >
            {tab === 'check' && <Problems problems={problems} onOpen={goTo} />}
            {tab === 'try' && <TryPanel open={open} state={{ ...tried, step }} />}
            {tab === 'versions' && <VersionsPanel open={open} />}
            {tab === 'tests' && <TestsPanel open={open} state={{ ...tests, step }} />}
          </Tabs>
        </div>
      </div>
    </div>
  );
}

const VIEWS = ['check', 'try', 'tests', 'versions'] as const;
type Tab = (typeof VIEWS)[number];

function tabs(): readonly { readonly id: Tab; readonly title: string }[] {
  return [
    { id: 'check', title: words('problems') },
    { id: 'try', title: runWords('try') },
    { id: 'tests', title: runWords('tests') },
    { id: 'versions', title: versionWords('title') },
  ];
}

function Bar({ open, kind }: { readonly open: OpenScenario; readonly kind: Kind }) {
  const { value: script } = open.script;
  if (script === undefined) return null;
  const changed = open.isChanged;
  const ofFile = isFile(script);
  const promote = async (): Promise<void> => {
    await open.change({ draft: false });
    toast(words('promoted', { n: open.script.value?.version ?? 0 }));
  };
  return (
    <>
      <div class="bar">
        <a href={link(['scenarios'])}>← {words('back')}</a>
        <h1>{script.name === '' ? script.code : script.name}</h1>
        <code class="quiet">{script.code}</code>
        <State script={script} />
        {changed && <span class="badge warn">{words('changed')}</span>}
        <span class="space" />
        {mayUse({ needs: '/api/runs' }) && <a href={link(['runs'], { scenario: script.code })}>{words('runs')}</a>}
        {changed && (
          <button type="button" onClick={() => open.discard()}>
            {words('discard')}
          </button>
        )}
        {script.draft && !changed && (
          <button type="button" disabled={mistakesOf(script) > 0} onClick={() => orToast(promote())}>
            {words('promote')}
          </button>
        )}
        {!ofFile && !script.draft && (
          <button type="button" disabled={!changed || open.saving.value} onClick={() => void save(open, kind, true)}>
            {words('saveDraft')}
          </button>
        )}
        <button
          type="button"
          class="primary"
          disabled={!changed || open.saving.value}
          onClick={() => void save(open, kind, script.draft)}
        >
          {words(ofFile ? 'saveCopy' : script.draft ? 'saveDraft' : 'save')}
        </button>
      </div>
      {ofFile && <p class="hint">{words('fileHelp')}</p>}
    </>
  );
}

async function save(open: OpenScenario, kind: Kind, draft: boolean): Promise<void> {
  const before = open.script.value;
  const saved = await open.save(draft);
  if (saved === undefined || before === undefined) return;
  toast(words(draft ? 'savedDraft' : 'saved', { n: open.script.value?.version ?? saved.version }));
  if (isFile(before)) replace(['scenarios', kind, saved.id], route.value.query);
}

/** The node of the block that a line belongs to. */
function nodeAt(graph: Graph | undefined, line: number): string | undefined {
  return graph?.nodes.filter((node) => node.line !== undefined && node.line <= line).at(-1)?.id;
}

/** Nodes of blocks with mistakes. */
function nodesOf(graph: Graph | undefined, problems: readonly Mistake[]): ReadonlySet<string> {
  const mistakes = problems.filter(({ severity, file }) => severity === undefined && file === undefined);
  return new Set(mistakes.flatMap(({ line }) => nodeAt(graph, line) ?? []));
}
