import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { EventBus } from '../../../runtime/embedded/media/core/event-bus.ts';
import { EslConnection } from '../../../runtime/embedded/media/esl/connection.ts';

/** A connection whose client is this test. */
function client(): { readonly connection: EslConnection; taken(): number } {
  let frames = 0;
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      frames += 1;
      done();
    },
  });
  const connection = new EslConnection(Object.assign(socket, { setNoDelay: () => socket }) as unknown as Socket);
  connection.subscription.subscribe(['ALL']);
  const taken = (): number => {
    const count = frames;
    frames = 0;
    return count;
  };
  return { connection, taken };
}

describe('embedded media server: event bus', () => {
  it("builds a channel's event only for connections that filter for that channel or for none", () => {
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
    expect([built, own.taken()]).to.deep.equal([0, 0]);
    publish('u1');
    expect([built, own.taken()]).to.deep.equal([1, 1]);
    const all = client();
    bus.add(all.connection);
    publish('u1');
    publish('u2');
    expect([built, own.taken(), all.taken()]).to.deep.equal([3, 1, 2]);
  });

  it('follows changed filters, and drops closed connections', () => {
    const bus = new EventBus();
    const { connection, taken } = client();
    const { subscription } = connection;
    bus.add(connection);
    const publish = (): number => {
      for (const uuid of ['u1', 'u2', 'u3'])
        bus.publishOf(uuid, 'CHANNEL_PARK', () => ({ 'Unique-ID': uuid, 'Caller-Context': 'public' }));
      return taken();
    };
    expect(publish()).to.equal(3);
    subscription.addFilter('Unique-ID', 'u1');
    expect(publish()).to.equal(1);
    subscription.addFilter('Unique-ID', 'u2');
    expect(publish()).to.equal(2);
    // A filter on another header can match events of any channel.
    subscription.addFilter('Caller-Context', 'public');
    expect(publish()).to.equal(3);
    subscription.deleteFilter('Caller-Context', undefined);
    subscription.deleteFilter('Unique-ID', 'u2');
    expect([publish(), bus.channels]).to.deep.equal([1, 1]);
    bus.publish('HEARTBEAT', () => ({ 'Unique-ID': 'u1' }));
    expect(taken()).to.equal(1);
    bus.remove(connection);
    expect([publish(), bus.channels, bus.listeners]).to.deep.equal([0, 0, 0]);
    subscription.addFilter('Unique-ID', 'u3');
    expect([publish(), bus.channels]).to.deep.equal([0, 0]);
  });
});
