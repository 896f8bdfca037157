import { findProgram } from '../phones/peers.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { type Climb, climb, ended, RATES } from './support/climb.ts';
import { processListeningOn } from './support/process-usage.ts';
import { RegisteredPhones } from './support/registered-phones.ts';
import { type Benchmark, type Figure, Unavailable } from './support/report.ts';

/** The node with its embedded servers against the same node with the real pair named by the environment. */
export const pairs: Benchmark = {
  title: 'pairs: the load of `calls` through the node over the embedded servers; in place of the floor, over real ones',
  async run(progress) {
    const sipp = findProgram('sipp');
    if (sipp === undefined) throw new Unavailable('SIPp is not installed; it is in the Debian package sip-tester');
    const { RINGMASTER_DRACHTIO: drachtio, RINGMASTER_FREESWITCH: freeswitch, RINGMASTER_SIP_PORT: port } = process.env;
    if (drachtio === undefined || freeswitch === undefined || port === undefined) {
      throw new Unavailable(
        'RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name the real pair, RINGMASTER_SIP_PORT its SIP port',
      );
    }
    const servers = [drachtio, freeswitch].map((address) => processListeningOn(Number(address.split(':')[1])));
    const real = await through(sipp, progress, 'real', servers, {
      RINGMASTER_DRACHTIO: drachtio,
      RINGMASTER_FREESWITCH: freeswitch,
      RINGMASTER_SIP_PORT: port,
    });
    const embedded = await through(sipp, progress, 'embedded', [], {});
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

async function through(
  sipp: string,
  progress: (line: string) => void,
  name: 'embedded' | 'real',
  servers: readonly number[],
  env: Readonly<Record<string, string>>,
): Promise<Climb> {
  const rtp = await freeUdpRange(2000);
  const embedded = name === 'embedded';
  const node = await TestNode.start({ embedded, env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`, ...env } });
  try {
    const sip = env['RINGMASTER_SIP_PORT'] === undefined ? node.sip : `127.0.0.1:${env['RINGMASTER_SIP_PORT']}`;
    const phones = await RegisteredPhones.open(sipp, sip);
    return await climb(RATES, progress, {
      name,
      pids: [node.pid ?? 0, ...servers],
      call: (calls, rate) => phones.call({ calls, rate }),
    });
  } finally {
    await node.remove();
  }
}
