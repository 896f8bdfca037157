import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { NoSpeechEngine } from '../../runtime/media/media-error.ts';
import { leastSpeechMs } from '../../runtime/media/speech-source.ts';
import { playSources } from '../../runtime/media/play.ts';
import { MediaServer } from '../../runtime/media/server.ts';
import { spokenSource } from '../../runtime/media/speech-source.ts';
import { type Held, mediaServer } from '../conformance/support/servers.ts';
import { MiniSrf } from '../embedded/media/support/mini-srf.ts';
import { RtpPhone } from '../embedded/media/support/rtp-phone.ts';

describe('media: spoken sources', () => {
  let server: Held;
  let srf: MiniSrf;
  let link: MediaServer;
  let phone: RtpPhone;

  before(async () => {
    server = await mediaServer();
    srf = await MiniSrf.start();
    const { host, port, secret } = server.address;
    const address = { host, port, password: secret, profile: 'drachtio_mrf', listenAddress: '127.0.0.1' };
    link = new MediaServer(address);
    await link.connect({ name: 'sip', srfForMedia: srf, connected: true }, address);
    phone = await RtpPhone.open();
  });
  after(async () => {
    await phone.close();
    link.close();
    await srf.close();
    await server.close();
  });

  it('are heard among others, or refused where nothing can speak', async () => {
    const endpoint = await link.createEndpoint({ remoteSdp: phone.sdp() });
    const sources = ['silence_stream://50', spokenSource('press one: or two', 'en'), 'silence_stream://50'];
    const settings = { signal: new AbortController().signal, stopDigits: '', repeat: 1 };
    const played = playSources(endpoint, sources, settings);
    if (spawnSync('espeak-ng', ['--version']).status === 0) {
      expect((await played).milliseconds).to.be.above(500);
      const loudest = Math.max(...phone.samples().map(Math.abs));
      expect(loudest, 'what the phone heard').to.be.above(1000);
    } else {
      const refused = await played.catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(NoSpeechEngine);
    }
    await endpoint.destroy();
  });

  it('take some time, if they hold anything that can be said', () => {
    expect(leastSpeechMs('You are number 3')).to.equal(260);
    expect(leastSpeechMs('...')).to.equal(0);
  });
});
