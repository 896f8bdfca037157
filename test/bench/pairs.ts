import { findProgram } from '../phones/peers.ts';
import { openNode } from './calls/programs.ts';
import { type Climb, climb, ended, RATES } from './support/climb.ts';
import { NEEDED, type RealPair, realPair } from './support/real-pair.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';

/** The node with its embedded servers against the same node with the real pair named by the environment. */
export const pairs: Benchmark = {
  title: 'pairs: the load of `calls` through the node over the embedded servers; in place of the floor, over real ones',
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const pair = realPair();
    if (pair === undefined) throw new Unavailable(NEEDED);
    const real = await through(sipp, progress, pair);
    const embedded = await through(sipp, progress, undefined);
    return [
      { what: 'clean calls per second', figure: embedded.best?.rate, floor: real.best?.rate, note: ended(embedded) },
      cpu('the lowest rate', embedded.first, real.first),
      cpu('the highest clean rate', embedded.best, real.best),
    ];
  },
};

function cpu(rate: string, embedded: Climb['best'], real: Climb['best']): Figure {
  return {
    what: `ms of processor time a call, at ${rate}`,
    figure: embedded?.cpuPerCall,
    floor: real?.cpuPerCall,
    note: 'node and servers',
  };
}

async function through(sipp: string, progress: (line: string) => void, pair: RealPair | undefined): Promise<Climb> {
  const node = await openNode(sipp, pair);
  try {
    return await climb(RATES, progress, { ...node, name: pair === undefined ? 'embedded' : 'real' });
  } finally {
    await node.close();
  }
}
