import { setTimeout as delay } from 'node:timers/promises';
import { findProgram } from '../phones/peers.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { residentMiB } from './support/process-usage.ts';
import { RegisteredPhones } from './support/registered-phones.ts';
import { type Benchmark, Unavailable } from './support/report.ts';

/** Bounded, so that it measures memory and not a queue: half of what the node takes cleanly on two busy cores. */
const RATE = 25;
const FEW = 2000;
const MANY = 20_000;
const LIVE = 200;
const LIVE_MS = 30_000;
/** Calls between two registrations, which last a minute. */
const PORTION = 1000;
/** Transactions absorb retransmissions for 32 s after a call (RFC 3261 section 17). */
const QUIET_LIMIT_MS = 120_000;

/** Resident memory of a node: fresh, after few calls, after many, and with calls up. */
export const memory: Benchmark = {
  title: `memory: resident memory after ${FEW} and ${MANY} calls, ${RATE} a second`,
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const rtp = await freeUdpRange(2000);
    const node = await TestNode.start({ env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}` } });
    try {
      const phones = await RegisteredPhones.open(sipp, node.sip);
      const measure = async (what: string) => {
        await quiet(node);
        const mib = residentMiB(node.pid ?? 0);
        progress(`${what}: ${mib.toFixed(0)} MiB`);
        return mib;
      };
      const run = async (calls: number) => {
        for (let left = calls; left > 0; left -= PORTION) {
          const portion = Math.min(left, PORTION);
          const { caller } = await phones.call({ calls: portion, rate: RATE });
          if (caller.succeeded < portion) progress(`only ${caller.succeeded} of ${portion} calls succeeded`);
        }
      };
      const fresh = await measure('fresh');
      await run(FEW);
      const few = await measure(`after ${FEW} calls`);
      const talking = phones.call({ calls: LIVE, rate: RATE, talkMs: LIVE_MS });
      await delay((LIVE / RATE) * 1000 + 5000);
      const live = residentMiB(node.pid ?? 0);
      progress(`with ${LIVE} calls up: ${live.toFixed(0)} MiB`);
      await talking;
      await run(MANY - FEW - LIVE);
      const many = await measure(`after ${MANY} calls`);
      return [
        { what: 'MiB, fresh', figure: fresh },
        { what: `MiB after ${FEW} calls`, figure: few },
        { what: `MiB after ${MANY} calls`, figure: many, floor: few, note: 'beside the figure after few' },
        { what: `MiB with ${LIVE} calls up`, figure: live, floor: few, note: 'beside the figure after few' },
      ];
    } finally {
      await node.remove();
    }
  },
};

/**
 * Waits until no call is being set up or ended. Calls that SIPp gave up without BYE, when the machine was too busy, stay
 * until their phones are asked whether they are there (RFC 4028): minutes, and a few kilobytes each.
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
