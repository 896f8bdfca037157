import { findProgram } from '../phones/peers.ts';
import { runSipp } from '../phones/sipp.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { percentile } from './support/percentile.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';
import { type LoadResult, SippLoad } from './support/sipp-load.ts';

const DOMAIN = 'demo.local';
const STEP_SECONDS = 6;
/** Beyond the last call of a step: RFC 3261 gives up an unanswered request after 32 s; a step is over long before. */
const GRACE_SECONDS = 10;
/** Calls per second of the steps, ten to a decade. */
const RATES = [
  10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200, 250, 320, 400, 500, 630, 800, 1000, 1250, 1600, 2000,
];
/** From the lowest rate, for comparison, the floor goes straight to this one: it is known to be above. */
const FLOOR_FROM = 40;

/** One side that takes calls, and what must be done around a step of them. */
interface Subject {
  readonly name: string;
  readonly server: string;
  prepare(): Promise<void>;
  /** A called party, if this side does not answer itself. */
  called(calls: number): Promise<SippLoad | undefined>;
}

interface Step {
  readonly rate: number;
  readonly caller: LoadResult;
  readonly clean: boolean;
}

/** Calls per second from INVITE to 200: every call of a step goes through, and no message is sent twice. */
export const calls: Benchmark = {
  title: 'calls: alice calls bob, who answers at once; half a second later alice hangs up',
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const { from: port } = await freeUdpRange(4);
    const node = await throughNode(sipp, port, progress);
    const floor = await throughReference(sipp, port, progress);
    return [
      { what: 'clean calls per second', figure: node.best?.rate, floor: floor.best?.rate, note: ended(node.failed) },
      ...responseTimes(node.first, floor.first),
      ...responseTimes(node.best),
    ];
  },
};

async function throughNode(sipp: string, port: number, progress: (line: string) => void): Promise<Climb> {
  const rtp = await freeUdpRange(2000);
  const node = await TestNode.start({ env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}` } });
  try {
    return await climb(sipp, port, RATES, progress, {
      name: 'b2b',
      server: node.sip,
      async prepare() {
        await register(sipp, node.sip, 'alice', port);
        await register(sipp, node.sip, 'bob', port + 1);
      },
      called: (count) =>
        SippLoad.start({
          program: sipp,
          scenario: 'called',
          port: port + 1,
          calls: count,
          keys: { called: 'bob' },
          timeoutSeconds: STEP_SECONDS + 2 * GRACE_SECONDS,
        }),
    });
  } finally {
    await node.remove();
  }
}

async function throughReference(sipp: string, port: number, progress: (line: string) => void): Promise<Climb> {
  const reference = await ServerProcess.reference();
  try {
    return await climb(
      sipp,
      port,
      RATES.filter((rate) => rate === RATES[0] || rate >= FLOOR_FROM),
      progress,
      { name: 'floor', server: reference.sip, prepare: async () => undefined, called: async () => undefined },
    );
  } finally {
    await reference.stop();
  }
}

interface Climb {
  readonly first: Step | undefined;
  readonly best: Step | undefined;
  /** The step that ended the climb. */
  readonly failed: Step | undefined;
}

/** Raises the rate until a step is not clean twice: other work on the machine may spoil one. */
async function climb(
  sipp: string,
  port: number,
  rates: readonly number[],
  progress: (line: string) => void,
  subject: Subject,
): Promise<Climb> {
  let first: Step | undefined;
  let best: Step | undefined;
  for (const rate of rates) {
    let step = await measure(sipp, port, rate, progress, subject);
    if (!step.clean) step = await measure(sipp, port, rate, progress, subject);
    first ??= step;
    if (!step.clean) return { first, best, failed: step };
    best = step;
  }
  return { first, best, failed: undefined };
}

async function measure(
  sipp: string,
  port: number,
  rate: number,
  progress: (line: string) => void,
  subject: Subject,
): Promise<Step> {
  await subject.prepare();
  const count = rate * STEP_SECONDS;
  const called = await subject.called(count);
  const load = await SippLoad.start({
    program: sipp,
    scenario: 'caller',
    server: subject.server,
    port,
    calls: count,
    rate,
    keys: { domain: DOMAIN, caller: 'alice', number: '102' },
    timeoutSeconds: STEP_SECONDS + GRACE_SECONDS,
  });
  const caller = await load.result((STEP_SECONDS + 2 * GRACE_SECONDS) * 1000);
  // With every call through, the called party is at its end too.
  const answered = await called?.result(caller.succeeded === count ? GRACE_SECONDS * 1000 : 0);
  const retransmissions = caller.retransmissions + (answered?.retransmissions ?? 0);
  const clean = caller.succeeded === count && retransmissions === 0 && (answered?.failed ?? 0) === 0;
  progress(
    `${subject.name} ${rate}/s: ${caller.succeeded} of ${count} calls, ${retransmissions} retransmissions, ` +
      `INVITE to 200 ${percentile(caller.responseTimes, 0.5)} ms (p50), ${percentile(caller.responseTimes, 0.99)} ms (p99)`,
  );
  return { rate, caller, clean };
}

async function register(sipp: string, server: string, login: string, port: number): Promise<void> {
  const keys = { domain: DOMAIN };
  const result = await runSipp(sipp, {
    scenario: 'register',
    server,
    port,
    username: login,
    password: `demo-${login}`,
    keys,
  });
  if (result.code !== 0) throw new Error(`${login} cannot register\n${result.errors}`);
}

/** At one rate; the floor only where it was measured at the same. */
function responseTimes(node: Step | undefined, floor?: Step): Figure[] {
  return [0.5, 0.99].map((share) => ({
    what: `ms from INVITE to 200 at ${node?.rate ?? 0}/s, p${share * 100}`,
    figure: percentile(node?.caller.responseTimes ?? [], share),
    floor: percentile(floor?.caller.responseTimes ?? [], share),
  }));
}

function ended(failed: Step | undefined): string {
  return failed === undefined ? 'the highest rate tried' : `not clean at ${failed.rate}/s`;
}
