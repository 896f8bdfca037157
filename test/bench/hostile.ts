import { TestNode } from '../support/node.ts';
import { Attack, type Attacked } from './hostile/attack.ts';
import { BareLoops } from './hostile/bare-loops.ts';
import { Listeners } from './hostile/listeners.ts';
import type { Heard } from './media/receiver.ts';
import { cpuMs, stolenMs } from './support/process-usage.ts';
import type { Benchmark, Figure } from './support/report.ts';

const CALLS = 50;
/** Quiet rounds, hostile rounds, and rounds with bare loops, in turns, so that all meet the same machine. */
const ROUNDS = 3;
const ROUND_MS = 12_000;
const SETTLE_MS = 1000;
/** Half of the packet interval, all of it, which is the smallest jitter buffer of a phone, and twice that. */
const LATE_MS = [10, 20, 40] as const;
/** A tone longer than the benchmark. */
const SOURCE = `start: pick_up
blocks:
  pick_up: { answer: , next: sound }
  sound: { play: "tone:%(900000,0,440)", next: end }
`;

interface Round extends Heard {
  /** Late when sent, as counted by the media server: a receiver also waits for a processor. */
  readonly sentLate: number;
  /** Processor time that the machine's host gave to others, ms. */
  readonly stolenMs: number;
}

/** Hostile scripts of every kind beside calls that play audio. */
export const hostile: Benchmark = {
  title: `hostile: ${CALLS} calls that hear a tone, ${ROUNDS} times ${ROUND_MS / 1000} s without and with hostile scripts of every kind, and with bare loops in their place`,
  async run(progress) {
    const node = await TestNode.start({ env: { RINGMASTER_LOG_LEVEL: 'warn' } });
    const listeners = new Listeners();
    let attack: Attack | undefined;
    try {
      const rest = await node.login();
      const scriptdata = { format: 'yaml', source: SOURCE };
      await rest.send('POST', '/rest/v1/domain/ivrscripts', { body: { code: 'tone', scriptdata } });
      attack = await Attack.prepare(rest);
      await listeners.call(node.sip, '*55tone', CALLS);
      progress(`${CALLS} calls are up, ${attack.names.length} hostile scripts are ready`);
      const quiet: Round[] = [];
      const loud: Round[] = [];
      const busy: Round[] = [];
      const attacks: Attacked[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await listeners.listen(SETTLE_MS);
        quiet.push(await hear(node, listeners));
        const before = cpuMs(node.pid ?? 0);
        const [heard, attacked] = await Promise.all([hear(node, listeners), attack.run(ROUND_MS, node.pid ?? 0)]);
        const share = (cpuMs(node.pid ?? 0) - before) / ROUND_MS;
        loud.push(heard);
        attacks.push(attacked);
        progress(
          `late ${byLateness(quiet.at(-1))} without, ${byLateness(heard)} with ${attacked.runs} hostile runs, ` +
            `when they left ${quiet.at(-1)?.sentLate} and ${heard.sentLate} ` +
            `(${attacked.killed} processes killed, the node at ${(100 * share).toFixed(0)} % of a core)`,
        );
        for (const line of attacked.strange) progress(`  ${line}`);
        await listeners.listen(SETTLE_MS);
        busy.push(await BareLoops.beside(() => hear(node, listeners)));
        progress(`late ${byLateness(busy.at(-1))} with bare loops, when they left ${busy.at(-1)?.sentLate}`);
      }
      const { counts } = await node.health();
      rest.close();
      return figures({ quiet, loud, busy }, attacks, CALLS - (counts['dialogs'] ?? 0));
    } finally {
      attack?.close();
      await node.remove();
      listeners.close();
    }
  },
};

/** Packets later than each of `LATE_MS`, e.g. `16/2/0`. */
function byLateness(round: Heard | undefined): string {
  return LATE_MS.map((most) => (round ? later(round, most) : 0)).join('/');
}

function later({ lateness }: Heard, milliseconds: number): number {
  return lateness.filter((each) => each > milliseconds).length;
}

async function hear(node: TestNode, listeners: Listeners): Promise<Round> {
  const sentLate = async (): Promise<number> => (await node.health()).counts['media_media_packetsLate'] ?? 0;
  const before = await sentLate();
  const stolenBefore = stolenMs();
  const heard = await listeners.listen(ROUND_MS);
  return { ...heard, sentLate: (await sentLate()) - before, stolenMs: stolenMs() - stolenBefore };
}

function figures(
  { quiet, loud, busy }: Readonly<Record<'quiet' | 'loud' | 'busy', readonly Round[]>>,
  attacks: readonly Attacked[],
  lost: number,
): Figure[] {
  const sum = <T>(rows: readonly T[], of: (row: T) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  const missing = ({ sent, received }: Heard): number => Math.max(0, sent - received);
  return [
    { what: 'packets that were to come', figure: sum(loud, ({ sent }) => sent), floor: sum(quiet, ({ sent }) => sent) },
    ...LATE_MS.map((most) => ({
      what: `packets later than ${most} ms`,
      figure: sum(loud, (round) => later(round, most)),
      floor: sum(quiet, (round) => later(round, most)),
    })),
    {
      what: 'later than 10 ms when they left',
      figure: sum(loud, ({ sentLate }) => sentLate),
      floor: sum(quiet, ({ sentLate }) => sentLate),
      note: 'from /healthz',
    },
    {
      what: 'processor time that the host kept, ms',
      figure: sum(loud, (round) => round.stolenMs),
      floor: sum(quiet, (round) => round.stolenMs),
      note: 'nothing runs meanwhile',
    },
    ...[
      ...LATE_MS.map((most) => ({
        what: `packets later than ${most} ms, with bare loops`,
        figure: sum(busy, (round) => later(round, most)),
      })),
      { what: 'later than 10 ms when they left', figure: sum(busy, ({ sentLate }) => sentLate) },
      { what: 'processor time that the host kept, ms', figure: sum(busy, (round) => round.stolenMs) },
    ].map((row) => ({ ...row, note: 'in place of scripts' })),
    { what: 'packets lost', figure: sum(loud, missing), floor: sum(quiet, missing) },
    { what: 'calls lost', figure: lost },
    { what: 'hostile runs', figure: sum(attacks, ({ runs }) => runs) },
    { what: 'of them ended with a typed error or by themselves', figure: sum(attacks, ({ ended }) => ended) },
    { what: 'script processes killed from outside', figure: sum(attacks, ({ killed }) => killed) },
  ];
}
