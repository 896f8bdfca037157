/** Providers with their state. */
import { read } from '../../lib/api.ts';
import { moment } from '../../lib/format.ts';
import { closeOver, openOver, over } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import type { Column } from '../../parts/list.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { words } from '../../words/trunks.ts';

interface LastAnswer {
  readonly sip_status: number;
  readonly reason: string;
  readonly at: string;
}

interface GatewayState {
  readonly gateway: string;
  readonly reachable: boolean | null;
  readonly last_answer: LastAnswer | null;
}

/** An item of `GET /domain/providers`, as far as it is shown. */
interface Provider {
  readonly id: string;
  readonly code: string;
  readonly name: string | null;
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly transport: string;
  readonly register: string;
  readonly max_calls: number;
  readonly state: 'registered' | 'registering' | 'rejected' | 'unreachable' | 'unregistered';
  readonly reachable: boolean | null;
  readonly since: string | null;
  readonly expires: string | null;
  readonly last_answer: LastAnswer | null;
  readonly gateway_states?: readonly GatewayState[] | null;
}

const KINDS: Readonly<Record<Provider['state'], string>> = {
  registered: 'good',
  registering: 'warn',
  rejected: 'bad',
  unreachable: 'bad',
  unregistered: '',
};

const COLUMNS: readonly Column<Provider>[] = [
  { title: () => words('code'), width: 'minmax(6em, 1fr)', cell: ({ code }) => code },
  { title: () => words('name'), width: 'minmax(6em, 1fr)', cell: ({ name }) => name, wide: true },
  { title: () => words('host'), width: 'minmax(8em, 2fr)', cell: ({ host, port }) => `${host}:${port}`, wide: true },
  { title: () => words('state'), width: '10em', cell: (provider) => <State provider={provider} /> },
  { title: () => words('reachable'), width: '8em', cell: ({ reachable }) => <Reachable reachable={reachable} /> },
  {
    title: () => words('lastAnswer'),
    width: 'minmax(8em, 1.5fr)',
    cell: ({ last_answer }) => answerText(last_answer),
    wide: true,
  },
];

function State({ provider: { enabled, state } }: { readonly provider: Provider }) {
  return enabled ? (
    <span class={`badge ${KINDS[state]}`}>{words(state)}</span>
  ) : (
    <span class="badge">{words('off')}</span>
  );
}

function Reachable({ reachable }: { readonly reachable: boolean | null }) {
  if (reachable === null) return <span class="quiet">{words('unknown')}</span>;
  return <span class={reachable ? 'badge good' : 'badge bad'}>{words(reachable ? 'yes' : 'no')}</span>;
}

function answerText(answer: LastAnswer | null): string {
  return answer === null ? '' : `${answer.sip_status} ${answer.reason}`;
}

const EVERY_MS = 15_000;

export default function TrunksPage({ query }: PageProps) {
  const live = useLive(() => read<Provider[]>('/domain/providers', { order: ['code'] }), 'providers', {
    events: ['providerevents'],
    everyMs: EVERY_MS,
  });
  const shown = live.data?.find(({ id }) => id === openOver());
  return (
    <>
      <ResourcePage
        title={words('title')}
        live={live}
        columns={COLUMNS}
        textsOf={({ code, name, host, state }) => [code, name, host, state]}
        query={query}
        onOpen={({ id }) => over(id)}
        empty={words('none')}
      />
      {shown !== undefined && (
        <Dialog title={shown.code} onClose={closeOver}>
          <Facts
            facts={[
              [words('state'), <State provider={shown} />],
              [words('reachable'), <Reachable reachable={shown.reachable} />],
              [words('since'), shown.since === null ? '' : moment(shown.since)],
              [words('expires'), shown.expires === null ? '' : moment(shown.expires)],
              [words('host'), `${shown.host}:${shown.port} (${shown.transport})`],
              [words('register'), shown.register],
              [words('maxCalls'), shown.max_calls === 0 ? '' : shown.max_calls],
              [
                words('lastAnswer'),
                shown.last_answer === null ? '' : `${answerText(shown.last_answer)}, ${moment(shown.last_answer.at)}`,
              ],
              ...(shown.gateway_states ?? []).map(
                ({ gateway, reachable, last_answer }): Fact => [
                  words('gateway', { name: gateway }),
                  <>
                    <Reachable reachable={reachable} /> {answerText(last_answer)}
                  </>,
                ],
              ),
            ]}
          />
        </Dialog>
      )}
    </>
  );
}
