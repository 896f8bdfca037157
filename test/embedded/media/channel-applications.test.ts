import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { type Bench, type Endpoint, startBench } from './support/fixture.ts';
import { eventWithin } from './support/mini-srf.ts';
import { RtpPhone, until } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: eavesdropping, tone detection, speech and changed sound', () => {
  let bench: Bench;
  const phones: RtpPhone[] = [];
  const endpoints: Endpoint[] = [];

  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());
  afterEach(async () => {
    for (const endpoint of endpoints.splice(0)) if (endpoint.connected) await endpoint.destroy();
    for (const phone of phones.splice(0)) await phone.close();
    await bench.settled();
  });

  async function party(frequency: number): Promise<{ phone: RtpPhone; endpoint: Endpoint }> {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    endpoints.push(endpoint);
    phone.talk(endpoint.local.sdp, frequency);
    return { phone, endpoint };
  }

  async function since<T>(milliseconds: number, look: (from: number) => T): Promise<T> {
    await pause(120);
    const from = performance.now();
    await pause(milliseconds);
    return look(from);
  }

  it('eavesdropping covers both sides of a bridge until the call ends', async () => {
    const [one, two, spy] = [await party(500), await party(900), await party(0)] as const;
    await one.endpoint.bridge(two.endpoint);
    let done = false;
    spy.endpoint.executeAsync('eavesdrop', one.endpoint.uuid, () => {
      done = true;
    });
    const levels = await since(250, (from) => [500, 900].map((frequency) => spy.phone.level(frequency, from)));
    expect(Math.min(...levels)).to.be.above(3000);
    expect(await since(150, (from) => one.phone.level(900, from))).to.be.above(3000);
    await one.endpoint.destroy();
    await until(() => done);
    expect(spy.endpoint.connected).to.equal(true);
  });

  it('eavesdropping hears a channel that plays', async () => {
    const [one, spy] = [await party(500), await party(0)] as const;
    spy.endpoint.executeAsync('eavesdrop', one.endpoint.uuid, () => undefined);
    one.endpoint.executeAsync('playback', 'tone_stream://%(2000,0,1200)', () => undefined);
    const levels = await since(250, (from) => [500, 1200].map((frequency) => spy.phone.level(frequency, from)));
    expect(Math.min(...levels)).to.be.above(3000);
  });

  it('a tone is detected once', async () => {
    const { phone, endpoint } = await party(0);
    const tones: unknown[] = [];
    endpoint.on('tone', (tone) => tones.push(tone));
    await endpoint.execute('tone_detect', 'fax 1100 r +5000');
    await pause(200);
    expect(tones).to.deep.equal([]);
    const detected = eventWithin(endpoint, 'tone', 2000);
    phone.talk(endpoint.local.sdp, 1100);
    expect(await detected).to.deep.equal([{ tone: 'fax' }]);
    await pause(200);
    expect(tones).to.have.length(1);
  });

  it('displace plays over the sound of a channel, parked and bridged', async () => {
    const [one, two] = [await party(500), await party(900)] as const;
    const displace = async (action: string): Promise<string> =>
      (
        await one.endpoint.api('uuid_displace', [one.endpoint.uuid, action, 'tone_stream://%(9000,0,1400)', '0', 'mux'])
      ).getBody();
    expect(await displace('start')).to.equal('+OK Success\n');
    expect(await since(150, (from) => one.phone.level(1400, from))).to.be.above(3000);
    await one.endpoint.bridge(two.endpoint);
    const both = await since(200, (from) => [900, 1400].map((frequency) => one.phone.level(frequency, from)));
    expect(Math.min(...both)).to.be.above(3000);
    expect(await displace('stop')).to.equal('+OK Success\n');
    const after = await since(200, (from) => [900, 1400].map((frequency) => one.phone.level(frequency, from)));
    expect(after[0]).to.be.above(3000);
    expect(after[1]).to.be.below(100);
    expect(await displace('stop')).to.equal('-ERR Cannot stop displace session!\n');
  });

  it('channels are muted, and their levels changed', async () => {
    const [one, two] = [await party(500), await party(0)] as const;
    await one.endpoint.bridge(two.endpoint);
    const full = await since(150, (from) => two.phone.level(500, from));
    await one.endpoint.mute();
    expect(await since(150, (from) => two.phone.level(500, from))).to.be.below(50);
    await one.endpoint.unmute();
    await two.endpoint.api('uuid_audio', [two.endpoint.uuid, 'start', 'write', 'level', '-2']);
    expect(await since(150, (from) => two.phone.level(500, from))).to.be.within(full * 0.45, full * 0.55);
    expect((await two.endpoint.api('uuid_audio', [two.endpoint.uuid, 'stop'])).getBody()).to.equal('+OK\n');
  });

  it('digits by INFO are received, and sent to a far end without telephone-event', async () => {
    const { endpoint } = await party(0);
    await endpoint.set('subscribed', 'yes'); // the client's subscription is on its way when the endpoint is handed out
    const digit = eventWithin(endpoint, 'dtmf', 2000);
    await endpoint.dialog.request('INFO', { 'Content-Type': 'application/dtmf-relay' }, 'Signal=5\r\nDuration=160\r\n');
    expect(await digit).to.deep.equal([{ dtmf: '5', duration: '1280', source: 'ENDPOINT' }]);
    const phone = await RtpPhone.open();
    phones.push(phone);
    const plain = await bench.ms.createEndpoint({ remoteSdp: phone.sdp('sendrecv', '0') });
    endpoints.push(plain);
    const info = eventWithin(plain.dialog, 'info', 2000);
    await plain.api('uuid_send_dtmf', [plain.uuid, '7@100']);
    expect(String((await info)[0] && ((await info)[0] as { body: Buffer }).body)).to.equal(
      'Signal=7\r\nDuration=100\r\n',
    );
  });

  it('digits are kept for a far end until it acknowledges the call', async () => {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const ack = Promise.withResolvers<void>();
    bench.srf.beforeAck = ack.promise;
    const plain = await bench.ms.createEndpoint({ remoteSdp: phone.sdp('sendrecv', '0') });
    bench.srf.beforeAck = undefined;
    endpoints.push(plain);
    const heard: string[] = [];
    const both = Promise.withResolvers<void>();
    plain.dialog.on('info', ({ body }: { body: Buffer }) => {
      heard.push(String(body).slice(0, 8));
      if (heard.length === 2) both.resolve();
    });
    await plain.api('uuid_send_dtmf', [plain.uuid, '4#@100']);
    expect(heard).to.deep.equal([]);
    ack.resolve();
    await both.promise;
    expect(heard).to.deep.equal(['Signal=4', 'Signal=#']);
  });

  it('digits pass a bridge from INFO to RFC 4733 and back', async () => {
    const one = await party(0);
    const phone = await RtpPhone.open();
    phones.push(phone);
    const plain = await bench.ms.createEndpoint({ remoteSdp: phone.sdp('sendrecv', '0') });
    endpoints.push(plain);
    phone.talk(plain.local.sdp, 0);
    await one.endpoint.bridge(plain);
    await pause(60);
    await plain.dialog.request('INFO', { 'Content-Type': 'application/dtmf-relay' }, 'Signal=8\r\nDuration=120\r\n');
    await until(() => one.phone.digits() === '8');
    const info = eventWithin(plain.dialog, 'info', 2000);
    one.phone.press('3');
    const [request] = (await info) as [{ body: Buffer }];
    expect(request.body.toString()).to.equal('Signal=3\r\nDuration=160\r\n');
  });

  it('text is spoken', async function () {
    const installed = spawnSync('espeak-ng', ['--version']).status === 0;
    if (!installed && process.env['RINGMASTER_REQUIRE_PEERS'] !== '1') this.skip();
    const { phone, endpoint } = await party(0);
    const start = performance.now();
    await endpoint.speak({ ttsEngine: 'espeak', voice: 'en', text: 'hello world' });
    expect(performance.now() - start).to.be.above(400);
    expect(Math.max(...phone.samples(start))).to.be.above(2000);
    await endpoint.say('12', { sayType: 'number', sayMethod: 'pronounced', lang: 'en' });
  });
});
