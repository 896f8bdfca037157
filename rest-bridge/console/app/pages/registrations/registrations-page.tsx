/** Phones and gateways that are registered. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { read, send } from '../../lib/api.ts';
import { clock, duration, moment } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { closeOver, openOver, over } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import type { Column } from '../../parts/list.tsx';
import { NumberToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { toast } from '../../parts/toasts.tsx';
import { words } from '../../words/registrations.ts';
import { words as shell } from '../../words/shell.ts';

/** An item of `GET /domain/registrations`. Times are milliseconds since the epoch. */
interface Registration {
  readonly id: string;
  readonly domain: string;
  readonly login: string;
  readonly phonenumber: string;
  readonly contact: string;
  readonly transport: string;
  readonly address: string;
  readonly port: number;
  readonly user_agent: string;
  readonly since: number;
  readonly renewed: number;
  readonly expires: number;
}

const COLUMNS: readonly Column<Registration>[] = [
  { title: () => words('login'), width: 'minmax(5em, 1fr)', cell: ({ login }) => login },
  {
    title: () => words('number'),
    width: 'minmax(4em, 1fr)',
    cell: ({ phonenumber }) => <NumberToCall number={phonenumber} inList />,
  },
  { title: () => words('address'), width: 'minmax(9em, 1.6fr)', cell: ({ address, port }) => `${address}:${port}` },
  { title: () => words('transport'), width: '5.5em', cell: ({ transport }) => transport, wide: true },
  { title: () => words('device'), width: 'minmax(6em, 2fr)', cell: ({ user_agent }) => user_agent, wide: true },
  { title: () => words('since'), width: '7em', cell: ({ since }) => clock(since), wide: true, number: true },
  { title: () => words('expires'), width: '5em', cell: ({ expires }) => <Left until={expires} />, number: true },
];

function Left({ until }: { readonly until: number }) {
  return <>{duration(until - now.value)}</>;
}

const EVERY_MS = 15_000;

export default function RegistrationsPage({ query }: PageProps) {
  const live = useLive(() => read<Registration[]>('/domain/registrations', { order: ['login'] }), 'registrations', {
    everyMs: EVERY_MS,
  });
  /** It may expire while it is open. */
  const last = useSignal<Registration | undefined>(undefined);
  const problem = useSignal<unknown>(undefined);
  const open = openOver();
  const found = live.data?.find(({ id }) => id === open);
  useEffect(() => {
    if (found !== undefined) last.value = found;
  }, [found]);
  const close = (): void => {
    closeOver();
    problem.value = undefined;
  };
  const end = async ({ id, login }: Registration): Promise<void> => {
    try {
      await send('DELETE', `/domain/registrations/${encodeURIComponent(id)}`);
      close();
      toast(words('gone', { login }));
      live.reload();
    } catch (error) {
      problem.value = error;
    }
  };
  const shown = found ?? (last.value?.id === open ? last.value : undefined);
  return (
    <>
      <ResourcePage
        title={words('title')}
        live={live}
        columns={COLUMNS}
        textsOf={({ login, phonenumber, address, contact, user_agent }) => [
          login,
          phonenumber,
          address,
          contact,
          user_agent,
        ]}
        query={query}
        onOpen={({ id }) => over(id)}
        empty={words('none')}
      />
      {shown !== undefined && (
        <Dialog title={`${shown.login}@${shown.domain}`} onClose={close}>
          <Facts
            facts={[
              [words('number'), shown.phonenumber !== '' && <NumberToCall number={shown.phonenumber} />],
              [words('contact'), <code>{shown.contact}</code>],
              [words('address'), `${shown.address}:${shown.port} (${shown.transport})`],
              [words('device'), shown.user_agent],
              [words('since'), moment(shown.since)],
              [words('renewed'), moment(shown.renewed)],
              [words('expires'), moment(shown.expires)],
            ]}
          />
          <Problem error={problem.value} />
          <div class="buttons">
            <button type="button" class="danger" onClick={() => void end(shown)}>
              {words('end')}
            </button>
            <button type="button" onClick={close}>
              {shell('close')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
