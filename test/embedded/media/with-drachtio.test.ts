import { once } from 'node:events';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import {
  type EmbeddedServer,
  type MediaServerStats,
  startMediaServer,
  startSipServer,
} from '../../../runtime/embedded/index.ts';
import { freeUdpRange } from '../../support/ports.ts';
import type { Endpoint, MediaServerClient } from './support/fixture.ts';
import { MiniSrf } from './support/mini-srf.ts';
import { RtpPhone, until } from './support/rtp-phone.ts';

const require = createRequire(import.meta.url);

interface UasDialog extends NodeJS.EventEmitter {
  destroy(): void;
}
interface RealSrf extends NodeJS.EventEmitter {
  connect(options: Record<string, unknown>): void;
  disconnect(): void;
  invite(handler: (req: unknown, res: unknown) => void): void;
}

const Srf = require('drachtio-srf') as new () => RealSrf;
const Mrf = require('drachtio-fsmrf') as new (srf: RealSrf) => { connect(options: object): Promise<MediaServerClient> };

type Caller = MediaServerClient & {
  connectCaller(req: unknown, res: unknown): Promise<{ endpoint: Endpoint; dialog: UasDialog }>;
};

describe('embedded media server: with drachtio-srf on the embedded SIP server', () => {
  let media: EmbeddedServer<MediaServerStats>;
  let sip: Awaited<ReturnType<typeof startSipServer>>;
  let srf: RealSrf;
  let ms: Caller;
  let caller: MiniSrf;

  before(async () => {
    media = await startMediaServer({
      eventSocket: '127.0.0.1:0',
      password: 'ClueCon',
      media: '127.0.0.1:0',
      profile: 'drachtio_mrf',
      rtpPorts: await freeUdpRange(100),
      sounds: '.',
      recordings: '.',
    });
    sip = await startSipServer({ app: '127.0.0.1:0', secret: 'cymru', sip: ['127.0.0.1:0'] });
    srf = new Srf();
    const [host, port] = (sip.addresses['app'] as string).split(':');
    srf.connect({ host, port: Number(port), secret: 'cymru' });
    await once(srf, 'connect');
    const [address, eslPort] = (media.addresses['eventSocket'] as string).split(':');
    ms = (await new Mrf(srf).connect({
      address,
      port: Number(eslPort),
      secret: 'ClueCon',
      listenAddress: '127.0.0.1',
    })) as Caller;
    caller = await MiniSrf.start();
  });

  after(async () => {
    ms.disconnect();
    srf.disconnect();
    await caller.close();
    await media.close();
    await sip.close();
  });

  it('a caller connects, hears a tone, presses a digit, and hangs up', async () => {
    const connected = Promise.withResolvers<{ endpoint: Endpoint; dialog: UasDialog }>();
    srf.invite((req, res) => {
      ms.connectCaller(req, res).then(connected.resolve, connected.reject);
    });
    const phone = await RtpPhone.open();
    const call = await caller.createUAC(`sip:test@${sip.addresses['sip'] as string}`, { localSdp: phone.sdp() });
    const { endpoint, dialog } = await connected.promise;
    phone.talk(call.remote.sdp, 0);
    const digit = once(endpoint, 'dtmf');
    await endpoint.play('tone_stream://%(300,0,800)');
    await until(() => phone.level(800) > 1000);
    phone.press('9');
    expect(await digit).to.deep.equal([{ dtmf: '9', duration: '1280', source: 'RTP' }]);
    const over = once(dialog, 'destroy');
    await call.destroy();
    await over;
    await endpoint.destroy();
    await phone.close();
    expect(await media.stats()).to.include({ channels: 0, rtpSockets: 0 });
  });
});
