import { TestNode } from '../support/node.ts';
import { eventually } from '../support/eventually.ts';
import { freeUdpRange } from '../support/ports.ts';
import { type Arrival, RoomCallers } from './conference/room-callers.ts';
import { timeToSilence } from './conference/silence.ts';
import { percentile } from './support/percentile.ts';
import type { Benchmark, Figure } from './support/report.ts';

const ROUNDS = 60;
const MEASURED_MS = 4000;
/** Members in all rooms, step by step. */
const ONE_ROOM = [20, 40, 80, 120, 180, 240, 300, 360, 420, 480, 540, 600];
const ROOMS_OF_THREE = [30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600];
/** Share of packets that may be late in a clean step, because of other load. */
const CLEAN = 0.005;

interface Measured {
  readonly silence: number[];
  readonly answer: number[];
  readonly oneRoom: number | undefined;
  readonly roomsOfThree: number | undefined;
}

/** Conferences through the node with its embedded servers; the floor is the named real pair. */
export const conference: Benchmark = {
  title:
    'conference: topology command to silence; members before sound is late; floor: over a real pair, where one is named',
  async run(progress) {
    const { RINGMASTER_DRACHTIO: drachtio, RINGMASTER_FREESWITCH: freeswitch, RINGMASTER_SIP_PORT: port } = process.env;
    const real =
      drachtio === undefined || freeswitch === undefined || port === undefined
        ? undefined
        : await through('real', progress, {
            RINGMASTER_DRACHTIO: drachtio,
            RINGMASTER_FREESWITCH: freeswitch,
            RINGMASTER_SIP_PORT: port,
          });
    const embedded = await through('embedded', progress, {});
    const times = (what: string, of: (measured: Measured) => readonly number[]): Figure[] =>
      [0.5, 0.99].map((share) => ({
        what: `ms from command to ${what}, p${share * 100}`,
        figure: percentile(of(embedded), share),
        floor: real && percentile(of(real), share),
      }));
    return [
      ...times('silence', ({ silence }) => silence),
      ...times('answer', ({ answer }) => answer),
      { what: 'members of one room, all talking', figure: embedded.oneRoom, floor: real?.oneRoom },
      { what: 'members in rooms of three, all talking', figure: embedded.roomsOfThree, floor: real?.roomsOfThree },
    ];
  },
};

async function through(
  name: 'embedded' | 'real',
  progress: (line: string) => void,
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  const rtp = await freeUdpRange(1500);
  const embedded = name === 'embedded';
  const node = await TestNode.start({ embedded, env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`, ...env } });
  const port = env['RINGMASTER_SIP_PORT'];
  const sip = port === undefined ? node.sip : `127.0.0.1:${port}`;
  try {
    const { silence, answer } = await timeToSilence(node, sip, ROUNDS);
    progress(`${name}: ${ROUNDS} topology commands`);
    const oneRoom = await climb(
      node,
      sip,
      ONE_ROOM,
      () => '*709901',
      (line) => progress(`${name}, one room: ${line}`),
    );
    const roomsOfThree = await climb(
      node,
      sip,
      ROOMS_OF_THREE,
      (member) => `*70${9_910_000 + Math.floor(member / 3)}`,
      (line) => progress(`${name}, rooms of three: ${line}`),
    );
    return { silence, answer, oneRoom, roomsOfThree };
  } finally {
    await node.remove();
  }
}

/** The most members of a step that was clean at the first or second try. */
async function climb(
  node: TestNode,
  sip: string,
  steps: readonly number[],
  roomOf: (member: number) => string,
  progress: (line: string) => void,
): Promise<number | undefined> {
  const callers = await RoomCallers.open(sip);
  let best: number | undefined;
  try {
    for (const members of steps) {
      try {
        while (callers.count < members) await callers.enter(roomOf(callers.count));
      } catch (error) {
        progress(`${members} members: ${(error as Error).message}`);
        break;
      }
      let arrival = await callers.talk(MEASURED_MS);
      if (!clean(arrival, members)) arrival = await callers.talk(MEASURED_MS);
      const { received, late, longestGapMs } = arrival;
      progress(`${members} members: ${received} packets, ${late} late, longest gap ${longestGapMs.toFixed(0)} ms`);
      if (!clean(arrival, members)) break;
      best = members;
    }
    return best;
  } finally {
    await endAll(node);
    await callers.close();
  }
}

/** Ends all conferences; settles when none is left. */
async function endAll(node: TestNode): Promise<void> {
  const rest = await node.login('admin');
  try {
    const list = async () => (await rest.get('/rest/v1/uc/conferences')).json<{ confid: string }[]>();
    for (const { confid } of await list()) await rest.send('DELETE', `/rest/v1/uc/conferences/${confid}`);
    await eventually(async () => {
      if ((await list()).length > 0) throw new Error('a conference goes on');
    }, 10_000);
  } finally {
    rest.close();
  }
}

function clean({ received, late }: Arrival, members: number): boolean {
  const expected = (members * MEASURED_MS) / 20;
  return received > expected * 0.98 && late <= received * CLEAN;
}
