import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../support/ports.ts';
import { percentile } from './support/percentile.ts';
import type { Benchmark } from './support/report.ts';
import { ServerProcess } from './support/server-process.ts';

const ROUNDS = 5;

/** Milliseconds from the start of the process to the first healthy answer. */
export const start: Benchmark = {
  title: `start: to the first healthy answer, median of ${ROUNDS}`,
  async run(progress) {
    const times = { empty: [] as number[], existing: [] as number[], floor: [] as number[] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), 'ringmaster-bench-'));
      try {
        times.empty.push(await startNode(dataDir));
        times.existing.push(await startNode(dataDir));
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
      times.floor.push(await startAndStop(() => ServerProcess.reference()));
      const [empty = 0, existing = 0, floor = 0] = Object.values(times).map((list) => list.at(-1));
      progress(`round ${round}: ${empty.toFixed(0)} / ${existing.toFixed(0)} / floor ${floor.toFixed(0)} ms`);
    }
    const floor = percentile(times.floor, 0.5);
    return [
      { what: 'ms, empty data directory', figure: percentile(times.empty, 0.5), floor, note: 'makes the database' },
      { what: 'ms, existing data directory', figure: percentile(times.existing, 0.5), floor },
    ];
  },
};

async function startNode(dataDir: string): Promise<number> {
  const [http, sip, rtp] = await Promise.all([freeTcpPort(), freeSipPort(), freeUdpRange(100)]);
  const env = {
    ...process.env,
    RINGMASTER_HTTP_PORT: String(http),
    RINGMASTER_SIP_PORT: String(sip),
    RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`,
    RINGMASTER_DATA_DIR: dataDir,
  };
  return startAndStop(() => ServerProcess.start(['runtime/cli/ringmaster.mjs', 'start'], http, env));
}

async function startAndStop(begin: () => Promise<ServerProcess>): Promise<number> {
  const server = await begin();
  await server.stop();
  return server.startMs;
}
