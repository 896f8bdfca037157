/** Active conferences, and one of them. */
import { read } from '../../lib/api.ts';
import { clock, duration } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { go } from '../../lib/router.ts';
import { party } from '../../lib/uri.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import type { Column } from '../../parts/list.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import type { Conference } from '../../stores/room-state.ts';
import { DOMAIN_ROOMS, type RoomScope } from '../../stores/rooms.ts';
import { words } from '../../words/conferences.ts';
import { RoomPage } from './room-page.tsx';

const COLUMNS: readonly Column<Conference>[] = [
  { title: () => words('room'), width: 'minmax(5em, 1fr)', cell: ({ confroomnum }) => confroomnum },
  { title: () => words('people'), width: 'minmax(9em, 3fr)', cell: ({ uris }) => uris.map(party).join(', ') },
  { title: () => words('since'), width: '7em', cell: ({ startts }) => clock(startts), number: true, wide: true },
  { title: () => words('lasts'), width: '5em', cell: ({ startts }) => <Lasts since={startts} />, number: true },
];

function Lasts({ since }: { readonly since: number }) {
  return <>{duration(now.value - since)}</>;
}

/** Who takes part changes by these; others come each time that somebody speaks. */
const EVENTS = {
  events: ['conf_start', 'conf_state', 'conf_join', 'conf_leave', 'conf_end'].map((type) => `confevents.${type}`),
};

export default function ConferencesPage(props: PageProps) {
  return <RoomsOf {...props} scope={DOMAIN_ROOMS} />;
}

/** The rooms of a scope, for operators and for users. */
export function RoomsOf({ rest: [id], query, scope }: PageProps & { readonly scope: RoomScope }) {
  return id === undefined ? <Rooms query={query} scope={scope} /> : <RoomPage key={id} id={id} scope={scope} />;
}

function Rooms({ query, scope }: Pick<PageProps, 'query'> & { readonly scope: RoomScope }) {
  const live = useLive(() => read<Conference[]>(scope.path), scope.path, EVENTS);
  const isOwn = scope.page === 'my-rooms';
  return (
    <ResourcePage
      title={words(isOwn ? 'myRooms' : 'title')}
      live={live}
      columns={COLUMNS}
      textsOf={({ confroomnum, uris }) => [confroomnum, ...uris]}
      query={query}
      onOpen={({ confid }) => go([scope.page, confid])}
      empty={words(isOwn ? 'noneOfMine' : 'none')}
    />
  );
}
