import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { detectMachine } from '../../../runtime/media/machine-detection/detect.ts';
import type { MediaEndpoint } from '../../../runtime/media/endpoint.ts';
import { LIMITS } from './support.ts';

/** Sends loud packets of PCMU, 20 ms each, until it is ended; tells when ten of them are out. */
const SENDER = `
const { parentPort, workerData: port } = require('node:worker_threads');
const socket = require('node:dgram').createSocket('udp4');
let sent = 0;
const begun = performance.now();
setInterval(() => {
  for (; sent * 20 < performance.now() - begun; sent += 1) {
    const packet = Buffer.alloc(172, 0x80);
    packet.writeUInt16BE(0x8000, 0);
    packet.writeUInt16BE(sent, 2);
    packet.writeUInt32BE(sent * 160, 4);
    packet.writeUInt32BE(1, 8);
    socket.send(packet, port, '127.0.0.1');
    if (sent === 10) parentPort.postMessage('sending');
  }
}, 20);
`;

/** A party whose sound comes from another thread. */
function speaking(): { endpoint: MediaEndpoint; sending: Promise<void>; end(): Promise<void> } {
  const sending = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let worker: Worker | undefined;
  const listener = { eavesdrop: () => over.promise, destroy: async () => over.resolve() };
  const server = {
    listenAddress: '127.0.0.1',
    createEndpoint: async ({ remoteSdp }: { remoteSdp: string }) => {
      const port = Number(/m=audio (\d+)/.exec(remoteSdp)?.[1]);
      worker = new Worker(SENDER, { eval: true, workerData: port });
      worker.once('message', () => sending.resolve());
      return listener;
    },
  };
  return {
    endpoint: { server, gone: new AbortController().signal } as unknown as MediaEndpoint,
    sending: sending.promise,
    end: async () => void (await worker?.terminate()),
  };
}

describe('detection of answering machines', () => {
  it('packets that came while the program stood still are no silence', async () => {
    const party = speaking();
    try {
      const found = detectMachine(party.endpoint, { ...LIMITS, endMs: undefined }, AbortSignal.timeout(10_000));
      await party.sending;
      // Longer than the silence after which a person waits for an answer. Timers come before packets after this.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000));
      expect(await found).to.include({ result: 'machine', cause: 'long_greeting' });
    } finally {
      await party.end();
    }
  });
});
