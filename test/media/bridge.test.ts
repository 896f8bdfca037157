import { expect } from 'chai';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { aborted } from '../../runtime/media/until-aborted.ts';
import { EventWatch } from '../conformance/support/event-watch.ts';
import { eventually } from '../support/eventually.ts';
import { useLinkedServer } from './linked-server.ts';

describe('media: bridges', () => {
  const server = useLinkedServer();
  let watch: EventWatch;
  before(async () => {
    watch = await EventWatch.open(server.address, 'CHANNEL_EXECUTE CHANNEL_DESTROY');
  });
  after(() => watch.close());

  const endpoint = async (): Promise<MediaEndpoint> => (await server.endpoint()).endpoint;
  /** The applications that the channel ran once it was there. */
  const executed = ({ uuid }: MediaEndpoint): string[] => {
    const all = watch.seen
      .filter((event) => event['Unique-ID'] === uuid && event['Event-Name'] === 'CHANNEL_EXECUTE')
      .map((event) => event.Application ?? '');
    const own = all.slice(all.indexOf('socket') + 1);
    // A query is repeated until sound flows; the first may come before the bridge.
    return own.filter((name, at) => name !== 'set' || !['set', 'uuid_bridge'].includes(own[at + 1] ?? ''));
  };

  // FreeSWITCH hangs a leg up that leaves earlier.
  it('are left once their sound flows, and not before', async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    for (let times = 1; times <= 2; times++) {
      await a.bridge(b);
      await a.unbridge(b);
    }
    await eventually(async () => {
      expect(executed(a)).to.deep.equal(['uuid_bridge', 'park', 'uuid_bridge', 'park']);
      expect(executed(b)).to.deep.equal(['uuid_bridge', 'set', 'park', 'uuid_bridge', 'set', 'park']);
    });
    for (const leg of [a, b]) await leg.play('silence_stream://20', AbortSignal.timeout(3000));
  });

  it('delay the leaving of one leg, so that the other survives', async () => {
    for (const first of [true, false]) {
      const [a, b] = [await endpoint(), await endpoint()];
      await a.bridge(b);
      const [ends, stays] = first ? [a, b] : [b, a];
      await ends.destroy();
      await eventually(async () => expect(executed(b).slice(0, 2)).to.deep.equal(['uuid_bridge', 'set']));
      await stays.play('silence_stream://20', AbortSignal.timeout(3000));
      expect(() => stays.gone.throwIfAborted()).not.to.throw();
    }
  });

  it('free the remaining leg, whichever leg ends', async () => {
    for (const first of [true, false]) {
      const [a, b] = [await endpoint(), await endpoint()];
      await a.bridge(b);
      const [ends, stays] = first ? [a, b] : [b, a];
      await ends.command('uuid_kill', '');
      await aborted(ends.gone);
      await a.unbridge(b);
      await eventually(async () => expect(executed(stays).at(-1)).to.equal('park'));
      await stays.play('silence_stream://20', AbortSignal.timeout(3000));
    }
  });

  // What is asked costs two events: a call whose parties stay, or leave together, is spared them.
  it('need no query when both legs leave together', async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    await a.bridge(b);
    await eventually(async () => expect([executed(a), executed(b)]).to.deep.equal([['uuid_bridge'], ['uuid_bridge']]));
    await Promise.all([a.destroy(), b.destroy()]);
    for (const { uuid } of [a, b]) {
      await watch.event('its end', (event) => event['Event-Name'] === 'CHANNEL_DESTROY' && event['Unique-ID'] === uuid);
    }
    expect([executed(a), executed(b)]).to.deep.equal([['uuid_bridge'], ['uuid_bridge']]);
  });
});
