import { expect } from 'chai';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { EventWatch } from '../conformance/support/event-watch.ts';
import { eventually } from '../support/eventually.ts';
import { useLinkedServer } from './linked-server.ts';

describe('media: bridges', () => {
  const server = useLinkedServer();
  let watch: EventWatch;
  before(async () => {
    watch = await EventWatch.open(server.address, 'CHANNEL_EXECUTE');
  });
  after(() => watch.close());

  const endpoint = async (): Promise<MediaEndpoint> => (await server.endpoint()).endpoint;
  /** The applications that the channel ran once it was there. */
  const executed = ({ uuid }: MediaEndpoint): string[] => {
    const all = watch.seen.filter((event) => event['Unique-ID'] === uuid).map((event) => event.Application ?? '');
    return all.slice(all.indexOf('socket') + 1);
  };

  // FreeSWITCH hangs a leg up that leaves earlier.
  it('are left when their sound flows, and not before', async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    for (let times = 1; times <= 2; times++) {
      await a.bridge(b);
      await a.unbridge(b);
    }
    await eventually(async () => {
      expect(executed(a)).to.deep.equal(['uuid_bridge', 'set', 'park', 'uuid_bridge', 'set', 'park']);
      expect(executed(b)).to.deep.equal(['uuid_bridge', 'park', 'uuid_bridge', 'park']);
    });
    for (const leg of [a, b]) await leg.play('silence_stream://20', AbortSignal.timeout(3000));
  });

  it('end no sooner for one leg, so that the other lives on', async () => {
    const [a, b] = [await endpoint(), await endpoint()];
    await a.bridge(b);
    await a.destroy();
    await eventually(async () => expect(executed(a)).to.deep.equal(['uuid_bridge', 'set']));
    await b.play('silence_stream://20', AbortSignal.timeout(3000));
    expect(() => b.gone.throwIfAborted()).not.to.throw();
  });
});
