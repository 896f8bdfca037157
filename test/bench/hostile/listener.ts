/** The phones of hostile.ts, in a separate process: see listeners.ts. */
import process from 'node:process';
import { BridgedCalls } from '../rtp/bridged-calls.ts';
import type { ListenerOrder } from './listeners.ts';
import { receive } from '../media/receiver.ts';

let calls: BridgedCalls | undefined;

async function carryOut(order: ListenerOrder): Promise<unknown> {
  if (order.type === 'listen') return receive(calls?.sockets ?? [], order.milliseconds);
  calls = await BridgedCalls.open(order.server);
  for (let call = 0; call < order.calls; call += 1) await calls.callTo(order.number);
  return {};
}

process.on('message', (order: ListenerOrder) => {
  carryOut(order).then(
    (done) => process.send?.({ done }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));
