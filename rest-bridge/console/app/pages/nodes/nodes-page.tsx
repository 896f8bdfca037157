/** The nodes of the cluster, and the drain of this one. */
import { useSignal } from '@preact/signals';
import { read, send } from '../../lib/api.ts';
import { clock, count, moment } from '../../lib/format.ts';
import { closeOver, openOver, over } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { orToast } from '../../parts/toasts.tsx';
import { words } from '../../words/nodes.ts';
import { words as shell } from '../../words/shell.ts';

type State = 'accepting' | 'draining' | 'ending';

/** A node of `GET /api/cluster`. */
interface ClusterNode {
  readonly id: string;
  readonly node: string;
  readonly site: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly http: string;
  readonly started: number;
  readonly state: State;
  readonly calls: number;
  readonly runs: number;
}

interface Cluster {
  readonly state: 'single' | 'ok' | 'away';
  readonly nodes: readonly ClusterNode[];
}

/** Answer of `GET /api/drain`. */
interface Drain {
  readonly state: State;
  readonly calls: number;
  readonly runs: number;
  readonly since?: number;
  readonly until?: number;
}

const KINDS: Readonly<Record<State, string>> = { accepting: 'good', draining: 'warn', ending: 'bad' };
const EVERY = { everyMs: 3_000 };

export default function NodesPage() {
  const cluster = useLive(() => read<Cluster>('/api/cluster'), 'cluster', EVERY);
  const drain = useLive(() => read<Drain>('/api/drain'), 'drain', EVERY);
  return (
    <div class="page">
      <h1>{words('title')}</h1>
      <section class="card">
        <h2>{words('thisNode')}</h2>
        <Problem error={drain.problem} retry={drain.reload} />
        {drain.data !== undefined && (
          <>
            <Facts
              facts={[
                [words('state'), <StateBadge state={drain.data.state} />],
                [words('calls'), count(drain.data.calls)],
                [words('runs'), count(drain.data.runs)],
                [words('since'), drain.data.since === undefined ? '' : clock(drain.data.since)],
                [words('until'), drain.data.until === undefined ? '' : clock(drain.data.until)],
              ]}
            />
            <div class="buttons">
              {drain.data.state === 'accepting' ? (
                <button type="button" class="danger" onClick={() => over('drain')}>
                  {words('drain')}
                </button>
              ) : (
                <button type="button" onClick={() => orToast(send('DELETE', '/api/drain').then(drain.reload))}>
                  {words('accept')}
                </button>
              )}
            </div>
          </>
        )}
      </section>
      <section class="card scroll">
        <h2>{words('cluster')}</h2>
        <Problem error={cluster.problem} retry={cluster.reload} />
        {cluster.data?.state === 'single' && <p class="quiet">{words('single')}</p>}
        {cluster.data?.state === 'away' && <p class="mistake">{words('away')}</p>}
        {cluster.data !== undefined && cluster.data.nodes.length > 0 && <NodeTable nodes={cluster.data.nodes} />}
      </section>
      {openOver() === 'drain' && (
        <DrainDialog
          onClose={() => {
            closeOver();
            drain.reload();
          }}
        />
      )}
    </div>
  );
}

function StateBadge({ state }: { readonly state: State }) {
  return <span class={`badge ${KINDS[state]}`}>{words(state)}</span>;
}

function NodeTable({ nodes }: { readonly nodes: readonly ClusterNode[] }) {
  return (
    <table>
      <thead>
        <tr>
          {(['node', 'state', 'calls', 'runs', 'site', 'roles', 'version', 'started'] as const).map((name) => (
            <th key={name} scope="col" class={name === 'calls' || name === 'runs' ? 'number' : ''}>
              {words(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {nodes.map((each, index) => (
          <tr key={each.id}>
            <td>
              <a href={each.http}>{each.node}</a> {index === 0 && <span class="quiet">{words('asked')}</span>}
            </td>
            <td>
              <StateBadge state={each.state} />
            </td>
            <td class="number">{count(each.calls)}</td>
            <td class="number">{count(each.runs)}</td>
            <td>{each.site}</td>
            <td>{each.roles.join(', ')}</td>
            <td>{each.version}</td>
            <td>{moment(each.started)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DrainDialog({ onClose }: { readonly onClose: () => void }) {
  const seconds = useSignal('');
  const problem = useSignal<unknown>(undefined);
  const begin = async (): Promise<void> => {
    try {
      const typed = seconds.value === '' ? {} : { seconds: Number(seconds.value) };
      await send('POST', '/api/drain', typed);
      onClose();
    } catch (error) {
      problem.value = error;
    }
  };
  return (
    <Dialog title={words('drainTitle')} onClose={onClose}>
      <p>{words('drainHelp')}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <Field label={words('seconds')} hint={words('secondsHint')}>
          {(ids) => (
            <input
              {...ids}
              inputMode="numeric"
              value={seconds.value}
              onInput={({ currentTarget }) => {
                seconds.value = currentTarget.value;
              }}
            />
          )}
        </Field>
        <Problem error={problem.value} />
        <div class="buttons">
          <button type="submit" class="danger">
            {words('drainNow')}
          </button>
          <button type="button" onClick={onClose}>
            {shell('cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
