import { setImmediate as turn } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { expect } from 'chai';
import { Outbox } from '../../../runtime/embedded/media/direct/outbox.ts';

describe('embedded media server: messages to another thread', () => {
  let own: MessagePort;
  let other: MessagePort;

  function arrived(): unknown[] {
    const messages: unknown[] = [];
    for (let next = receiveMessageOnPort(other); next !== undefined; next = receiveMessageOnPort(other)) {
      messages.push(next.message);
    }
    return messages;
  }

  beforeEach(() => {
    ({ port1: own, port2: other } = new MessageChannel());
  });
  afterEach(() => own.close());

  it('are sent at the end of the turn, in order, each on its own', async () => {
    const outbox = new Outbox<number>(own);
    outbox.add(1);
    await Promise.resolve();
    outbox.add(2);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    outbox.add(3);
    expect(arrived()).to.deep.equal([]);
    await turn();
    expect(arrived()).to.deep.equal([1, 2, 3]);
    outbox.add(4);
    await turn();
    expect(arrived()).to.deep.equal([4]);
  });

  it('wait for the end of the turn up to eight', async () => {
    const outbox = new Outbox<number>(own);
    for (let message = 1; message <= 10; message += 1) outbox.add(message);
    expect(arrived()).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    await turn();
    expect(arrived()).to.deep.equal([9, 10]);
  });

  it('are sent at once on request, and only once', async () => {
    const outbox = new Outbox<number>(own);
    outbox.add(1);
    outbox.flush();
    expect(arrived()).to.deep.equal([1]);
    await turn();
    expect(arrived()).to.deep.equal([]);
  });
});
