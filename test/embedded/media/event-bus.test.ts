import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { EventBus } from '../../../runtime/embedded/media/core/event-bus.ts';
import { EslConnection } from '../../../runtime/embedded/media/esl/connection.ts';

interface Client {
  readonly connection: EslConnection;
  /** Segments so far. */
  segments(): number;
  /** Number of events since the last call, of this turn too. */
  taken(): Promise<number>;
}

/** A connection whose client is this test. */
function client(): Client {
  let frames = 0;
  let segments = 0;
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => {
      segments += 1;
      frames += String(chunk).split('Content-Type: text/event-plain').length - 1;
      done();
    },
  });
  const connection = new EslConnection(Object.assign(socket, { setNoDelay: () => socket }) as unknown as Socket);
  connection.subscription.subscribe(['ALL']);
  const taken = async (): Promise<number> => {
    await turn();
    const count = frames;
    frames = 0;
    return count;
  };
  return { connection, taken, segments: () => segments };
}

describe('embedded media server: event bus', () => {
  it("builds a channel's event only for connections that filter for that channel or for none", async () => {
    const bus = new EventBus();
    const own = client();
    own.connection.subscription.addFilter('Unique-ID', 'u1');
    bus.add(own.connection);
    let built = 0;
    const publish = (uuid: string): void =>
      bus.publishOf(uuid, 'CHANNEL_PARK', () => {
        built += 1;
        return { 'Unique-ID': uuid };
      });
    publish('u2');
    expect([built, await own.taken()]).to.deep.equal([0, 0]);
    publish('u1');
    expect([built, await own.taken()]).to.deep.equal([1, 1]);
    const all = client();
    bus.add(all.connection);
    publish('u1');
    publish('u2');
    expect([built, await own.taken(), await all.taken()]).to.deep.equal([3, 1, 2]);
  });

  it('sends the events of one turn in one segment', async () => {
    const bus = new EventBus();
    const { connection, taken, segments } = client();
    bus.add(connection);
    for (const name of ['CHANNEL_PARK', 'CHANNEL_HANGUP']) bus.publish(name, () => ({ 'Event-Name': name }));
    expect([await taken(), segments()]).to.deep.equal([2, 1]);
  });

  it('follows changed filters, and drops closed connections', async () => {
    const bus = new EventBus();
    const { connection, taken } = client();
    const { subscription } = connection;
    bus.add(connection);
    const publish = async (): Promise<number> => {
      for (const uuid of ['u1', 'u2', 'u3'])
        bus.publishOf(uuid, 'CHANNEL_PARK', () => ({ 'Unique-ID': uuid, 'Caller-Context': 'public' }));
      return taken();
    };
    expect(await publish()).to.equal(3);
    subscription.addFilter('Unique-ID', 'u1');
    expect(await publish()).to.equal(1);
    subscription.addFilter('Unique-ID', 'u2');
    expect(await publish()).to.equal(2);
    // A filter on another header can match events of any channel.
    subscription.addFilter('Caller-Context', 'public');
    expect(await publish()).to.equal(3);
    subscription.deleteFilter('Caller-Context', undefined);
    subscription.deleteFilter('Unique-ID', 'u2');
    expect([await publish(), bus.channels]).to.deep.equal([1, 1]);
    bus.publish('HEARTBEAT', () => ({ 'Unique-ID': 'u1' }));
    expect(await taken()).to.equal(1);
    bus.remove(connection);
    expect([await publish(), bus.channels, bus.listeners]).to.deep.equal([0, 0, 0]);
    subscription.addFilter('Unique-ID', 'u3');
    expect([await publish(), bus.channels]).to.deep.equal([0, 0]);
  });
});
