/** What is known of a room. */
import { clock } from '../../lib/format.ts';
import { userOf } from '../../lib/uri.ts';
import { useLive } from '../../lib/use-live.ts';
import { Facts } from '../../parts/facts.tsx';
import { NumberToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import type { Conference } from '../../stores/room-state.ts';
import { pinsOf } from '../../stores/rooms.ts';
import { words } from '../../words/conferences.ts';

export interface RoomFactsProps {
  readonly conference: Conference;
  /** Number of participants. */
  readonly count: number;
}

export function RoomFacts({ conference, count }: RoomFactsProps) {
  const { confid, uri, site, startts } = conference;
  const pins = useLive(() => pinsOf(conference), confid);
  return (
    <section class="card">
      <Problem error={pins.problem} retry={pins.reload} />
      <Facts
        facts={[
          [words('number'), <NumberToCall number={userOf(uri)} />],
          [words('pin'), pins.data?.pin],
          [words('moderatorPin'), pins.data?.moderator_pin],
          [words('since'), clock(startts)],
          [words('people'), count],
          [words('uri'), <code>{uri}</code>],
          [words('site'), site],
        ]}
      />
    </section>
  );
}
