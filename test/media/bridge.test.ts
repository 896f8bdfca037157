import { expect } from 'chai';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { MediaServer } from '../../runtime/media/server.ts';
import { EventWatch } from '../conformance/support/event-watch.ts';
import { type Held, mediaServer } from '../conformance/support/servers.ts';
import { MiniSrf } from '../embedded/media/support/mini-srf.ts';
import { RtpPhone } from '../embedded/media/support/rtp-phone.ts';
import { eventually } from '../support/eventually.ts';

describe('media: bridges', () => {
  const phones: RtpPhone[] = [];
  let server: Held;
  let srf: MiniSrf;
  let link: MediaServer;
  let watch: EventWatch;

  before(async () => {
    server = await mediaServer();
    srf = await MiniSrf.start();
    const { host, port, secret } = server.address;
    const listenAddress = '127.0.0.1';
    const address = { host, port, password: secret, profile: 'drachtio_mrf', listenAddress };
    link = new MediaServer(address);
    await link.connect({ name: 'sip', srfForMedia: srf, connected: true }, address);
    watch = await EventWatch.open(server.address, 'CHANNEL_EXECUTE');
  });
  afterEach(async () => {
    for (const phone of phones.splice(0)) await phone.close();
  });
  after(async () => {
    watch.close();
    link.close();
    await srf.close();
    await server.close();
  });

  const endpoint = async (): Promise<MediaEndpoint> => {
    const phone = await RtpPhone.open();
    phones.push(phone);
    return link.createEndpoint({ remoteSdp: phone.sdp() });
  };
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
