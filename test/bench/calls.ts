import { findProgram } from '../phones/peers.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { type Climb, climb, ended, RATES, responseTimes } from './support/climb.ts';
import { answeredBy, RegisteredPhones } from './support/registered-phones.ts';
import { type Benchmark, Unavailable } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';

/** After the lowest rate, for comparison, the floor starts here: it is known to be above. */
const FLOOR_FROM = 40;

/** Calls per second from INVITE to 200: every call of a step succeeds, and no message is sent twice. */
export const calls: Benchmark = {
  title: 'calls: alice calls bob, who answers at once; half a second later alice hangs up',
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const node = await throughNode(sipp, progress);
    const floor = await throughReference(sipp, progress);
    return [
      { what: 'clean calls per second', figure: node.best?.rate, floor: floor.best?.rate, note: ended(node) },
      ...responseTimes(node.first, floor.first),
      ...responseTimes(node.best),
      { what: 'ms of processor time a call', figure: node.best?.cpuPerCall, floor: floor.best?.cpuPerCall },
    ];
  },
};

async function throughNode(sipp: string, progress: (line: string) => void): Promise<Climb> {
  const rtp = await freeUdpRange(2000);
  const node = await TestNode.start({ env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}` } });
  try {
    const phones = await RegisteredPhones.open(sipp, node.sip);
    return await climb(RATES, progress, {
      name: 'b2b',
      pids: [node.pid ?? 0],
      call: (count, rate) => phones.call({ calls: count, rate }),
    });
  } finally {
    await node.remove();
  }
}

async function throughReference(sipp: string, progress: (line: string) => void): Promise<Climb> {
  const reference = await ServerProcess.reference();
  try {
    const rates = RATES.filter((rate) => rate === RATES[0] || rate >= FLOOR_FROM);
    const { from: port } = await freeUdpRange(2);
    return await climb(rates, progress, {
      name: 'floor',
      pids: [reference.pid],
      call: (count, rate) => answeredBy(sipp, reference.sip, port, { calls: count, rate }),
    });
  } finally {
    await reference.stop();
  }
}
