import { findProgram } from '../phones/peers.ts';
import { openNode } from './calls/programs.ts';
import { climb, ended, RATES } from './support/climb.ts';
import { percentile } from './support/percentile.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';
import { type LoadOutcome, SippPhones } from './support/sipp-phones.ts';

/** The climb starts here: lower rates are known to be clean. */
const FROM = 50;
const FACTORS = [0.8, 1, 1.5, 2, 3] as const;
const SECONDS = 8;

/** Calls beyond the capacity of the node: how many are set up and refused, and how fast. */
export const overload: Benchmark = {
  title: `overload: alice calls bob as in \`calls\`, ${FACTORS.join(', ')} times the highest clean rate, ${SECONDS} s each`,
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const node = await openNode(sipp, undefined);
    try {
      const climbed = await climb(
        RATES.filter((rate) => rate >= FROM),
        progress,
        node,
      );
      const { best } = climbed;
      if (best === undefined) throw new Unavailable(`the node is not clean at ${FROM} calls a second`);
      const figures: Figure[] = [{ what: 'clean calls per second', figure: best.rate, note: ended(climbed) }];
      const phones = await SippPhones.open(sipp);
      for (const factor of FACTORS) {
        const rate = Math.round(best.rate * factor);
        await phones.register(node.sip);
        const outcome = await phones.call(node.sip, { calls: rate * SECONDS, rate }, 'overload');
        figures.push(...figuresOf(outcome, `at ${rate}/s (${factor})`, Math.min(rate, best.rate), progress));
      }
      return figures;
    } finally {
      await node.close();
    }
  },
};

/** @param floor the clean rate, or what is offered if that is less */
function figuresOf(outcome: LoadOutcome, at: string, floor: number, progress: (line: string) => void): Figure[] {
  const { calls, caller, retransmissions } = outcome;
  const { answerTimes, refusalTimes } = caller;
  const times = (values: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => percentile(values, share) ?? '-').join('/');
  progress(
    `${at}: ${answerTimes.length} accepted in ${times(answerTimes)} ms (p50/p99/most), ` +
      `${refusalTimes.length} refused in ${times(refusalTimes)} ms, ${retransmissions} retransmissions`,
  );
  return [
    { what: `calls a second set up ${at}`, figure: answerTimes.length / SECONDS, floor },
    { what: 'ms from INVITE to 200, p50', figure: percentile(answerTimes, 0.5) },
    { what: 'ms from INVITE to 200, p99', figure: percentile(answerTimes, 0.99) },
    { what: 'calls refused', figure: refusalTimes.length },
    { what: 'ms from INVITE to 503, p99', figure: percentile(refusalTimes, 0.99) },
    { what: 'calls neither set up nor refused', figure: calls - answerTimes.length - refusalTimes.length },
    { what: 'retransmissions', figure: retransmissions },
  ];
}
