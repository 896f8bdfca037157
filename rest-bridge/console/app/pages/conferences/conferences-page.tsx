/** Active conferences, and the participants of one. */
import { read } from '../../lib/api.ts';
import { clock, duration } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go, link } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { Facts } from '../../parts/facts.tsx';
import type { Column } from '../../parts/list.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { words } from '../../words/conferences.ts';

/** An item of `GET /uc/conferences`. */
interface Conference {
  readonly confid: string;
  readonly confroomnum: string;
  readonly uri: string;
  readonly site: string;
  readonly startts: number;
  readonly uris: readonly string[];
}

interface Participant {
  readonly participantid: string;
  readonly state: string;
  readonly callid: string;
  readonly ruri: string;
}

const COLUMNS: readonly Column<Conference>[] = [
  { title: () => words('room'), width: 'minmax(5em, 1fr)', cell: ({ confroomnum }) => confroomnum },
  { title: () => words('people'), width: 'minmax(9em, 3fr)', cell: ({ uris }) => uris.map(party).join(', ') },
  { title: () => words('count'), width: '7em', cell: ({ uris }) => uris.length, number: true, wide: true },
  { title: () => words('since'), width: '7em', cell: ({ startts }) => clock(startts), number: true, wide: true },
  { title: () => words('lasts'), width: '5em', cell: ({ startts }) => <Lasts since={startts} />, number: true },
];

function Lasts({ since }: { readonly since: number }) {
  return <>{duration(now.value - since)}</>;
}

const EVENTS = { events: ['confevents'] };

export default function ConferencesPage({ rest: [id], query }: PageProps) {
  return id === undefined ? <Rooms query={query} /> : <Room key={id} id={id} />;
}

function Rooms({ query }: Pick<PageProps, 'query'>) {
  const live = useLive(() => read<Conference[]>('/uc/conferences'), 'conferences', EVENTS);
  return (
    <ResourcePage
      title={words('title')}
      live={live}
      columns={COLUMNS}
      textsOf={({ confroomnum, uris }) => [confroomnum, ...uris]}
      query={query}
      onOpen={({ confid }) => go(['conferences', confid])}
      empty={words('none')}
    />
  );
}

function Room({ id }: { readonly id: string }) {
  const path = `/uc/conferences/${encodeURIComponent(id)}`;
  const room = useLive(
    async () => ({
      conference: await read<Conference>(path),
      participants: await read<Participant[]>(`${path}/participants`),
    }),
    id,
    EVENTS,
  );
  const { conference, participants } = room.data ?? {};
  return (
    <div class="page">
      <div class="bar">
        <a href={link(['conferences'])}>← {words('title')}</a>
        <h1>{words('roomName', { name: conference?.confroomnum ?? id })}</h1>
      </div>
      <Problem error={room.problem} retry={room.reload} />
      {conference !== undefined && (
        <section class="card">
          <Facts
            facts={[
              [words('since'), clock(conference.startts)],
              [words('uri'), <code>{conference.uri}</code>],
              [words('site'), conference.site],
            ]}
          />
        </section>
      )}
      {participants !== undefined && (
        <section class="card scroll">
          <h2>{words('people')}</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">{words('participant')}</th>
                <th scope="col">{words('state')}</th>
                <th scope="col">{words('callid')}</th>
              </tr>
            </thead>
            <tbody>
              {participants.map(({ participantid, ruri, state, callid }) => (
                <tr key={participantid}>
                  <td>{party(ruri)}</td>
                  <td>{state}</td>
                  <td>
                    <code>{callid}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}
