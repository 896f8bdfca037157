import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TestNode } from '../support/node.ts';
import { BridgedCalls } from './rtp/bridged-calls.ts';
import { connectSound, forward, type Forwarding, openSound } from './rtp/streams.ts';
import { percentile } from './support/percentile.ts';
import type { Benchmark, Figure } from './support/report.ts';

const CALLS = 50;
const WARM_UP_MS = 2000;
const MEASURED_MS = 15_000;
const FORWARDER = fileURLToPath(new URL('./rtp/forwarder.ts', import.meta.url));

/** Lateness and loss of the sound of bridged calls, measured at the phones. */
export const rtp: Benchmark = {
  title: `rtp: ${CALLS} bridged calls, G.711 in both directions for ${MEASURED_MS / 1000} s`,
  async run(progress) {
    const node = await throughNode(progress);
    const floor = await throughForwarder(progress);
    const row = (what: string, of: (forwarding: Forwarding) => number | undefined): Figure => ({
      what,
      figure: of(node.forwarding),
      floor: of(floor),
    });
    return [
      row('packets sent', ({ sent }) => sent),
      row('packets lost', ({ sent, received }) => sent - received),
      row('packets later than 10 ms', ({ late }) => late),
      row("of these late in the phones' own process", ({ lateHere }) => lateHere),
      row('ms from phone to phone, p50', ({ delays }) => percentile(delays, 0.5)),
      row('ms from phone to phone, p99', ({ delays }) => percentile(delays, 0.99)),
      row('ms from phone to phone, longest', ({ delays }) => percentile(delays, 1)),
      { what: 'packets late, by the media server itself', figure: node.packetsLate, note: 'from /healthz' },
    ];
  },
};

async function throughNode(
  progress: (line: string) => void,
): Promise<{ forwarding: Forwarding; packetsLate: number | undefined }> {
  const node = await TestNode.start();
  let calls: BridgedCalls | undefined;
  try {
    calls = await BridgedCalls.open(node.sip);
    for (let call = 0; call < CALLS; call += 1) await calls.call();
    progress(`${CALLS} calls are up`);
    const before = await node.health();
    const forwarding = await forward(calls.sockets, WARM_UP_MS, MEASURED_MS);
    const after = await node.health();
    if (after.counts['dialogs'] !== CALLS) throw new Error(`${after.counts['dialogs']} of ${CALLS} calls are left`);
    const [late, lateBefore] = [after, before].map(({ counts }) => counts['media_media_packetsLate']);
    const packetsLate = late === undefined || lateBefore === undefined ? undefined : late - lateBefore;
    return { forwarding, packetsLate };
  } finally {
    await node.remove();
    await calls?.close();
  }
}

/** The same sockets and packets, with a bare forwarder in place of the node. */
async function throughForwarder(progress: (line: string) => void): Promise<Forwarding> {
  const sockets = await Promise.all(Array.from({ length: 2 * CALLS }, openSound));
  const forwarder = fork(FORWARDER);
  const exited = once(forwarder, 'exit');
  try {
    const ports = sockets.map(({ port }) => port);
    forwarder.send(ports.flatMap((port, index) => (index % 2 === 0 ? [[port, ports[index + 1]]] : [])));
    const [far] = (await once(forwarder, 'message')) as [readonly (readonly [number, number])[]];
    await Promise.all(sockets.map((socket, index) => connectSound(socket, far.flat()[index] ?? 0)));
    progress('floor');
    return await forward(sockets, WARM_UP_MS, MEASURED_MS);
  } finally {
    forwarder.disconnect();
    await exited;
    for (const { socket } of sockets) socket.close();
  }
}
