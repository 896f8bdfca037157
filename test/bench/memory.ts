import { setTimeout as delay } from 'node:timers/promises';
import { findProgram } from '../phones/peers.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { residentMiB } from './support/process-usage.ts';
import { type Benchmark, Unavailable } from './support/report.ts';
import { type Load, SippPhones } from './support/sipp-phones.ts';

/** Limited, so that it measures memory and not a queue: half of the clean rate of a node on two busy cores. */
const RATE = 25;
const FEW = 2000;
const MANY = 20_000;
const LIVE = 200;
const LIVE_MS = 30_000;
/** Calls between two registrations, each of which lasts a minute. */
const PORTION = 1000;
/** Transactions absorb retransmissions for 32 s after a call (RFC 3261 section 17). */
const QUIET_LIMIT_MS = 120_000;
/** Milliseconds between measurements of returned memory: a node returns it some seconds after its last call is dropped. */
const LOOK_MS = 12_000;
/** MiB of difference between two measurements of an idle node. */
const STEADY = 1;

/** Lets the node collect its garbage on request. */
const COLLECTING = { NODE_OPTIONS: `--import=${import.meta.resolve('./support/full-collection.ts')}` };

/** Resident memory in MiB: as it is, and after a garbage collection in every thread. */
interface Resident {
  readonly found: number;
  readonly kept: number;
}

/**
 * Resident memory of a node: fresh, after few calls, after many, and during calls. `found` is that of an idle node, and
 * `kept` the memory that calls leave behind.
 */
export const memory: Benchmark = {
  title: `memory: resident memory after ${FEW} and ${MANY} calls, ${RATE} a second`,
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const rtp = await freeUdpRange(2000);
    const node = await TestNode.start({ env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`, ...COLLECTING } });
    try {
      const phones = await SippPhones.open(sipp);
      const call = async (load: Load) => {
        await phones.register(node.sip);
        return phones.call(node.sip, load);
      };
      const pid = node.pid ?? 0;
      const measure = async (what: string): Promise<Resident> => {
        await quiet(node);
        const found = await steady(pid);
        process.kill(pid, 'SIGUSR2');
        const kept = await steady(pid);
        progress(`${what}: ${found.toFixed(0)} MiB, of which ${kept.toFixed(1)} stay when garbage is collected`);
        return { found, kept };
      };
      const run = async (calls: number) => {
        for (let left = calls; left > 0; left -= PORTION) {
          const portion = Math.min(left, PORTION);
          const { caller } = await call({ calls: portion, rate: RATE });
          if (caller.succeeded < portion) progress(`only ${caller.succeeded} of ${portion} calls succeeded`);
        }
      };
      const fresh = await measure('fresh');
      await run(FEW);
      const few = await measure(`after ${FEW} calls`);
      const talking = call({ calls: LIVE, rate: RATE, talkMs: LIVE_MS });
      await delay((LIVE / RATE) * 1000 + 5000);
      const live = residentMiB(pid);
      progress(`with ${LIVE} calls up: ${live.toFixed(0)} MiB`);
      await talking;
      await run(MANY - FEW - LIVE);
      const many = await measure(`after ${MANY} calls`);
      return [
        { what: 'MiB, fresh', figure: fresh.found },
        { what: `MiB after ${FEW} calls`, figure: few.found },
        { what: `MiB with ${LIVE} calls up`, figure: live },
        { what: `MiB after ${MANY} calls`, figure: many.found },
        { what: 'MiB without garbage, fresh', figure: fresh.kept },
        { what: `MiB without garbage after ${FEW} calls`, figure: few.kept },
        {
          what: `MiB without garbage after ${MANY} calls`,
          figure: many.kept,
          floor: few.kept,
          note: `beside the figure after ${FEW}`,
        },
      ];
    } finally {
      await node.remove();
    }
  },
};

/** Resident memory once it is stable. */
async function steady(pid: number): Promise<number> {
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    await delay(LOOK_MS);
    const now = residentMiB(pid);
    if (Math.abs(before - now) < STEADY) return now;
    before = now;
  }
}

/**
 * Waits until no call is being set up or ended. Calls that SIPp abandoned without BYE on a busy machine stay
 * until their phones are probed (RFC 4028): minutes, and a few kilobytes each.
 */
async function quiet(node: TestNode): Promise<void> {
  const deadline = Date.now() + QUIET_LIMIT_MS;
  for (;;) {
    const { counts } = await node.health();
    if (['sip_transactions', 'media_sipTransactions'].every((name) => (counts[name] ?? 0) === 0)) return;
    if (Date.now() > deadline) throw new Error(`the node does not come to rest: ${JSON.stringify(counts)}`);
    await delay(500);
  }
}
