/** One run: the graph with the block where it is, its steps, and a test made of it. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { GraphView } from '../../authors/graph/graph-view.tsx';
import { litAt } from '../../authors/graph/way.ts';
import { Replay } from '../../authors/replay.tsx';
import type { Run } from '../../authors/run-types.ts';
import { type RanScenario, readRun, scenarioOf } from '../../authors/runs.ts';
import { duration, moment } from '../../lib/format.ts';
import { onKeys } from '../../lib/keys.ts';
import { link, route, setQuery } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import { type Fact, Facts } from '../../parts/facts.tsx';
import type { PageProps } from '../../pages.ts';
import { Problem } from '../../parts/problem.tsx';
import { words } from '../../words/run-pages.ts';
import { MadeTestCard } from './made-test.tsx';
import { RunBadge } from './run-list.tsx';

export interface RunPageProps {
  readonly id: string;
  /** A run that it started, or one of those that these started. */
  readonly child?: string;
  readonly query: PageProps['query'];
}

/** A scenario may pass many blocks at once. */
const GATHER_MS = 100;

export default function RunPage({ id, child, query }: RunPageProps) {
  /** Index of the step; past the last one: it follows a live run. */
  const step = useSignal(Infinity);
  const asked = indexOf(query['step']);
  const live = useLive(async () => ({ run: await readRun(id, child) }), id, {
    events: ['runevents'],
    filter: { id },
    gatherMs: GATHER_MS,
  });
  const isRead = live.data !== undefined;
  const run = live.data?.run;
  const isLive = run !== undefined && run.outcome === undefined;
  const last = (run?.trace.length ?? 0) - 1;
  useEffect(() => {
    // An ended run is seen from its beginning.
    if (asked === undefined && run?.outcome !== undefined) step.value = 0;
  }, [isRead]);
  useStepInAddress(step, asked, isRead);
  useEffect(() => {
    // At the last step of a live run, it follows again.
    if (isLive && step.value >= last) step.value = Infinity;
  }, [step.value, last]);
  useArrows(step, last);
  if (run === undefined)
    return (
      <div class="page">
        <Bar />
        <Problem error={live.problem} retry={live.reload} />
        {isRead && <p class="empty">{words('unknownChild')}</p>}
      </div>
    );
  return (
    <div class="page full scenario">
      <Bar run={run} />
      <Problem error={live.problem} retry={live.reload} />
      <Opened key={`${run.scenario} ${run.version}`} id={id} run={run} step={step} />
    </div>
  );
}

/** @param step of the address, counted from 1 */
function indexOf(step: string | undefined): number | undefined {
  const index = Number(step) - 1;
  return step !== undefined && Number.isInteger(index) && index >= 0 ? index : undefined;
}

/** Browsers refuse more changes of the address than some a second. */
const ADDRESS_MS = 150;

/** The address names the step, so that it can be sent to somebody; back does not stop at each. */
function useStepInAddress(step: Signal<number>, asked: number | undefined, isRead: boolean): void {
  useEffect(() => {
    if (asked !== undefined) step.value = asked;
  }, [asked]);
  useEffect(() => {
    if (!isRead || step.value === (asked ?? Infinity)) return undefined;
    const timer = setTimeout(() => {
      const { step: _step, ...rest } = route.value.query;
      setQuery(step.value === Infinity ? rest : { ...rest, step: String(step.value + 1) });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [step.value, asked, isRead]);
}

/** The arrow keys go from step to step, wherever the focus is. */
function useArrows(step: Signal<number>, last: number): void {
  useEffect(() => {
    const go = (by: number): void => {
      step.value = Math.max(0, Math.min(last, Math.min(step.value, last) + by));
    };
    const ends = [onKeys('ArrowLeft', () => go(-1)), onKeys('ArrowRight', () => go(1))];
    return () => ends.forEach((end) => end());
  }, [step, last]);
}

function Bar({ run }: { readonly run?: Run }) {
  const { scenario, from, to, outcome } = run ?? {};
  return (
    <div class="bar">
      <a href={link(['runs'])}>← {words('title')}</a>
      <h1>
        {run === undefined
          ? words('run')
          : `${scenario}: ${from ?? words('noCaller')}${to === undefined ? '' : ` → ${to}`}`}
      </h1>
      {run !== undefined && <RunBadge status={outcome?.status ?? 'running'} error={outcome?.error?.code} />}
    </div>
  );
}

interface OpenedProps {
  /** Of the run whose record it is in. */
  readonly id: string;
  readonly run: Run;
  readonly step: Signal<number>;
}

function Opened({ id, run, step }: OpenedProps) {
  const ran = useSignal<{ readonly found: RanScenario | undefined } | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const load = (): void => {
    failure.value = undefined;
    scenarioOf(run).then(
      (found) => (ran.value = { found }),
      (error: unknown) => (failure.value = error),
    );
  };
  useEffect(load, []);
  const found = ran.value?.found;
  const isLive = run.outcome === undefined;
  return (
    <>
      <VersionNote run={run} ran={found} />
      <Problem error={failure.value} retry={load} />
      <div class="workplace">
        <div class="beside">
          {ran.value !== undefined && found === undefined ? (
            <p class="empty">{words('scenarioGone')}</p>
          ) : (
            <GraphView graph={found?.graph} {...litAt(found?.graph, run.trace, step.value)} />
          )}
        </div>
        <div class="beside run">
          <p class="hint">{words(step.value === Infinity && isLive ? 'following' : 'replayKeys')}</p>
          <Replay run={run} step={step} />
          <section class="card">
            <h2>{words('run')}</h2>
            <Facts facts={factsOf(id, run, found)} />
          </section>
          {!isLive && run.id === id && <MadeTestCard id={id} ran={found} />}
        </div>
      </div>
    </>
  );
}

function VersionNote({ run, ran }: { readonly run: Run; readonly ran: RanScenario | undefined }) {
  if (ran === undefined) return null;
  const { isPresent, script } = ran;
  const now = script.serving.version;
  if (String(now) === run.version) return null;
  return (
    <p class="offline" role="status">
      {now === null ? words('otherVersion', { n: run.version }) : words('olderVersion', { n: run.version, now })}{' '}
      {isPresent && words('presentGraph')}
    </p>
  );
}

function factsOf(id: string, run: Run, ran: RanScenario | undefined): Fact[] {
  const { scenario, version, file, start, outcome, callid, from, to, children = [] } = run;
  return [
    [
      words('scenario'),
      ran === undefined ? scenario : <a href={link(['scenarios', ran.kind, ran.script.id])}>{scenario}</a>,
    ],
    [words('version'), version],
    [words('file'), file],
    [words('started'), start !== undefined && moment(start)],
    [words('lasted'), outcome !== undefined && duration(outcome.milliseconds)],
    [words('from'), from],
    [words('to'), to],
    [words('reason'), outcome?.reason],
    [words('value'), outcome?.value !== undefined && <code>{JSON.stringify(outcome.value)}</code>],
    [words('callid'), callid !== undefined && callid !== '' && <code>{callid}</code>],
    [words('startedBy'), run.id !== id && <a href={link(['runs', id])}>{id}</a>],
    [
      words('startedRuns'),
      children.length > 0 &&
        children.map((child) => (
          <a key={child.id} class="item" href={link(['runs', id, child.id])}>
            {child.scenario}
          </a>
        )),
    ],
    [words('id'), <code>{run.id}</code>],
  ];
}
