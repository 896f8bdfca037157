import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { EslClient, type EslFrame } from './support/esl-client.ts';
import { type Bench, type Endpoint, PASSWORD, startBench } from './support/fixture.ts';
import { RtpPhone, streamFaults, until } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: endpoints through drachtio-fsmrf', () => {
  let bench: Bench;
  const phones: RtpPhone[] = [];
  const endpoints: Endpoint[] = [];

  before(async () => {
    bench = await startBench();
  });
  after(async () => {
    await bench.close();
  });
  afterEach(async () => {
    for (const endpoint of endpoints.splice(0)) await endpoint.destroy();
    for (const phone of phones.splice(0)) await phone.close();
    await bench.settled();
  });

  async function phoneWithEndpoint(
    payloadType: 0 | 8 = 0,
    frequency = 0,
  ): Promise<{ phone: RtpPhone; endpoint: Endpoint }> {
    const phone = await RtpPhone.open(payloadType);
    phones.push(phone);
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    endpoints.push(endpoint);
    phone.talk(endpoint.local.sdp, frequency);
    return { phone, endpoint };
  }

  it('tells a controller that asks for little only what drachtio-fsmrf reads', async () => {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const [whole, brief] = await Promise.all(
      [{}, { 'X-Channel-Data': 'brief' }].map((headers) =>
        bench.ms.createEndpoint({ remoteSdp: phone.sdp(), headers }),
      ),
    );
    if (whole === undefined || brief === undefined) throw new Error('an endpoint is missing');
    endpoints.push(whole, brief);
    const size = (endpoint: Endpoint): number =>
      (endpoint as unknown as { conn: { getInfo(): { headers: unknown[] } } }).conn.getInfo().headers.length;
    expect(size(whole)).to.be.above(100);
    expect(size(brief)).to.be.below(20);
    const shape = ({ uuid, local, remote, dtmfType, sip, connected }: Endpoint): unknown => [
      uuid.length,
      local.sdp.replaceAll(local.mediaPort, 'port').replaceAll(/\d{8,}/g, 'number'),
      local.mediaIp,
      remote,
      dtmfType,
      typeof sip.callId,
      connected,
    ];
    expect(shape(brief)).to.deep.equal(shape(whole));
  });

  it('writes only the headers of an event that a client asks for, and all of others', async () => {
    const client = await EslClient.connect(bench.server.addresses['eventSocket'] as string);
    const names = ['CHANNEL_HANGUP_COMPLETE', 'CHANNEL_HANGUP'];
    const replied = async (command: string): Promise<string | undefined> => {
      client.send(`${command}\n\n`);
      const reply = await client.take((frame) => frame.type === 'command/reply', 5000);
      return reply?.headers.get('Reply-Text');
    };
    const ended = async (): Promise<Record<string, string>[]> => {
      const { endpoint } = await phoneWithEndpoint();
      const { uuid } = endpoint;
      await endpoint.destroy();
      const isEvent = ({ type }: EslFrame): boolean => type === 'text/event-json';
      const frames = [await client.take(isEvent, 5000), await client.take(isEvent, 5000)];
      return frames.map((frame) => {
        const headers = JSON.parse(frame?.body ?? '{}') as Record<string, string>;
        return headers['Unique-ID'] === uuid ? headers : {};
      });
    };
    expect(await replied(`auth ${PASSWORD}`)).to.equal('+OK accepted');
    expect(await replied('brief')).to.match(/^-ERR/);
    expect(await replied('brief CHANNEL_HANGUP_COMPLETE variable_hangup_cause Unique-ID No-Such')).to.equal('+OK');
    expect(await replied(`event json ${names.join(' ')}`)).to.match(/^\+OK/);
    const [hangup, brief] = await ended();
    expect(Object.keys(hangup ?? {})).to.have.length.above(50);
    expect(Object.keys(brief ?? {})).to.deep.equal(['variable_hangup_cause', 'Unique-ID']);
    expect(await replied('brief CHANNEL_HANGUP_COMPLETE')).to.equal('+OK');
    const [, whole = {}] = await ended();
    expect(Object.keys(whole)).to.have.length.above(100);
    // All names: each header is built by itself, and none is missing.
    expect(await replied(`brief CHANNEL_HANGUP_COMPLETE ${Object.keys(whole).join(' ')}`)).to.equal('+OK');
    expect(await replied('filter variable_rtp_use_codec_name PCMU')).to.match(/^\+OK/);
    const [, each = {}] = await ended();
    expect(Object.keys(each)).to.have.members(Object.keys(whole));
    expect(await replied('brief CHANNEL_HANGUP_COMPLETE Unique-ID')).to.equal('+OK');
    const [, filtered] = await ended();
    expect(Object.keys(filtered ?? {})).to.deep.equal(['Unique-ID']);
    client.destroy();
  });

  it('answers an INVITE without 100 Trying', async () => {
    const socket = createSocket('udp4');
    await once(socket.bind(0, '127.0.0.1'), 'listening');
    const { port } = socket.address();
    const host = bench.server.addresses['sip'] as string;
    const lines = [
      `INVITE sip:drachtio@${host} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${port}`,
      'Max-Forwards: 70',
      'From: <sip:node@127.0.0.1>;tag=1',
      `To: <sip:drachtio@${host}>`,
      `Call-ID: untried-${port}`,
      'CSeq: 1 INVITE',
      `Contact: <sip:node@127.0.0.1:${port}>`,
      'Content-Length: 0',
    ];
    const answered = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(`${lines.join('\r\n')}\r\n\r\n`, Number(host.split(':')[1]), '127.0.0.1');
    const [message] = await answered;
    // Without X-esl-outbound nobody would control the channel.
    expect(message.toString().split('\r\n')[0]).to.equal('SIP/2.0 404 Not Found');
    socket.close();
  });

  it('connects and reads the address of the SIP profile', async () => {
    expect(bench.ms.sip.ipv4.udp.address).to.equal(bench.server.addresses['sip']);
    expect(await bench.ms.api('status')).to.match(/ is ready\n.*3000 session\(s\) max\n/s);
    expect(await bench.ms.api('nosuchcommand')).to.equal('-ERR nosuchcommand Command not found!\n');
    expect(await bench.ms.api('create_uuid')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('creates an endpoint for a far end, which hears silence at once', async () => {
    const { phone, endpoint } = await phoneWithEndpoint();
    expect(endpoint.uuid).to.match(/^[0-9a-f-]{36}$/);
    expect(endpoint.local.mediaIp).to.equal('127.0.0.1');
    expect(endpoint.local.sdp).to.include(`m=audio ${endpoint.local.mediaPort} RTP/AVP 0 101\r\n`);
    expect(endpoint.remote.mediaPort).to.equal(String(phone.port));
    expect(endpoint.dtmfType).to.equal('rfc2833');
    await until(() => phone.audio().length >= 20);
    expect(streamFaults(phone.audio())).to.deep.equal([]);
    expect(phone.samples().every((sample) => Math.abs(sample) < 10)).to.equal(true);
  });

  it('creates an endpoint without far end and sets it later', async () => {
    const endpoint = await bench.ms.createEndpoint();
    endpoints.push(endpoint);
    expect(endpoint.local.sdp).to.match(/m=audio \d+ RTP\/AVP 102 9 0 8 103 101 13\r\n/);
    const phone = await RtpPhone.open();
    phones.push(phone);
    const answer = await endpoint.modify(phone.sdp());
    expect(answer).to.include(`m=audio ${endpoint.local.mediaPort} RTP/AVP 0 101\r\n`);
    expect(endpoint.remote.mediaPort).to.equal(String(phone.port));
    await until(() => phone.audio().length >= 5);
  });

  it('refuses a call without a common codec with 488, also on re-INVITE', async () => {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const refusal = await bench.ms
      .createEndpoint({ remoteSdp: phone.sdp('sendrecv', '18') })
      .catch((error: unknown) => error);
    expect(refusal).to.include({ status: 488 });
    const { endpoint } = await phoneWithEndpoint();
    expect(await endpoint.modify(phone.sdp('sendrecv', '18')).catch((error: unknown) => error)).to.include({
      status: 488,
    });
  });

  it('stops sending on hold and resumes afterwards', async () => {
    const { phone, endpoint } = await phoneWithEndpoint();
    await until(() => phone.audio().length >= 5);
    expect(await endpoint.modify('hold')).to.include('a=inactive\r\n');
    await pause(40);
    const held = phone.heard.length;
    await pause(150);
    expect(phone.heard.length).to.equal(held);
    await endpoint.modify('unhold');
    await until(() => phone.heard.length > held + 5);
    expect(streamFaults(phone.audio())).to.deep.equal([]);
  });

  it('plays a file, tones, silence and a list, with the durations and events of the real server', async function () {
    // A late process spoils the measured time; a wrong time is wrong each time.
    this.retries(2);
    const { phone, endpoint } = await phoneWithEndpoint();
    const file = await bench.tone('tone.wav', 300, 1000);
    const events: string[] = [];
    endpoint.on('playback-start', ({ file: name }: { file: string }) => events.push(`start ${name}`));
    endpoint.on('playback-stop', ({ file: name }: { file: string }) => events.push(`stop ${name}`));
    expect(await endpoint.play(file)).to.deep.equal({
      playbackSeconds: '0',
      playbackMilliseconds: '300',
      playbackLastOffsetPos: '2400',
    });
    expect(events).to.deep.equal(['start', 'stop'].map((what) => `${what} ${join(bench.directory, file)}`));
    await until(() => phone.level(1000) > 1000);
    const start = performance.now();
    await endpoint.play([file, file]);
    expect(performance.now() - start).to.be.within(830, 1500); // 300 + 250 + 300
    const before = performance.now();
    expect(await endpoint.play('tone_stream://%(200,100,800,600);loops=2')).to.include({ playbackMilliseconds: '600' });
    expect(phone.level(800, before)).to.be.above(1000);
    expect(phone.level(600, before)).to.be.above(1000);
    expect(await endpoint.play('silence_stream://100')).to.include({ playbackMilliseconds: '100' });
    expect(await endpoint.play({ file, seekOffset: 800 })).to.include({ playbackMilliseconds: '200' });
    expect(streamFaults(phone.audio())).to.deep.equal([]);
  });

  it('reports a missing file', async () => {
    const { endpoint } = await phoneWithEndpoint();
    const error = await endpoint.play('nothing.wav').catch((reason: unknown) => reason);
    expect(error).to.be.an('error').with.property('message', 'File Not Found');
  });

  it('stops playing on uuid_break', async () => {
    const { endpoint } = await phoneWithEndpoint();
    const playing = endpoint.play('tone_stream://%(10000,0,440)');
    await pause(100);
    expect((await endpoint.api('uuid_break', endpoint.uuid)).getBody()).to.equal('+OK\n');
    const { playbackLastOffsetPos } = await playing;
    expect(Number(playbackLastOffsetPos)).to.be.within(160, 4000);
  });

  it('reports digits, and collects them over a prompt', async () => {
    const { phone, endpoint } = await phoneWithEndpoint();
    const digits: unknown[] = [];
    endpoint.on('dtmf', (digit) => digits.push(digit));
    phone.press('7');
    await until(() => digits.length === 1);
    expect(digits).to.deep.equal([{ dtmf: '7', duration: '1280', source: 'RTP' }]);
    const collecting = endpoint.playCollect({
      file: 'tone_stream://%(5000,0,440)',
      min: 1,
      max: 6,
      timeout: 2000,
      digitTimeout: 1000,
    });
    await pause(150);
    for (const digit of '12#') phone.press(digit);
    expect(await collecting).to.include({ digits: '12', terminatorUsed: '#' });
    expect(digits).to.have.length(4);
  });

  it('a collection without digits times out', async function () {
    // A late process spoils the measured time; a wrong time is wrong each time.
    this.retries(2);
    const { endpoint } = await phoneWithEndpoint();
    const start = performance.now();
    const result = await endpoint.playCollect({
      file: 'silence_stream://100',
      min: 1,
      max: 4,
      timeout: 300,
      invalidFile: 'silence_stream://100',
    });
    expect(result.digits).to.equal(null);
    expect(performance.now() - start).to.be.within(480, 1400);
  });

  it('returns the sound with echo', async () => {
    const { phone, endpoint } = await phoneWithEndpoint(0, 700);
    endpoint.executeAsync('echo', '', () => undefined);
    await pause(300);
    const since = performance.now();
    await pause(200);
    expect(phone.level(700, since)).to.be.above(3000);
  });

  it('bridges two endpoints, also with different codecs, and separates them', async () => {
    const one = await phoneWithEndpoint(0, 500);
    const two = await phoneWithEndpoint(8, 900);
    await one.endpoint.bridge(two.endpoint);
    await pause(200);
    const since = performance.now();
    await pause(400);
    expect(one.phone.level(900, since)).to.be.above(3000);
    expect(two.phone.level(500, since)).to.be.above(3000);
    expect(one.phone.level(500, since)).to.be.below(100);
    two.phone.press('5');
    await until(() => one.phone.digits() === '5');
    expect(streamFaults(one.phone.heard.filter((packet) => packet.payloadType === 0))).to.satisfy((faults: string[]) =>
      faults.every((fault) => !fault.includes('SSRC')),
    );
    await one.endpoint.unbridge();
    await pause(100);
    const apart = performance.now();
    await pause(200);
    expect(one.phone.level(900, apart)).to.be.below(100);
    expect(one.phone.audio(apart).length).to.be.within(4, 25);
    await one.endpoint.play('tone_stream://%(200,0,1200)');
    expect(one.phone.level(1200, apart)).to.be.above(500);
  });

  it('a held party sees no packet loss afterwards, bridged or not', async () => {
    const one = await phoneWithEndpoint(0, 600);
    const two = await phoneWithEndpoint(0, 1000);
    for (const apart of [false, true]) {
      await one.endpoint.bridge(two.endpoint);
      await until(() => one.phone.level(1000, performance.now() - 60) > 1000);
      await one.endpoint.modify('hold');
      if (apart) await one.endpoint.unbridge();
      await pause(100);
      if (apart) await one.endpoint.bridge(two.endpoint);
      await one.endpoint.modify('unhold');
      const resumed = one.phone.heard.length;
      await until(() => one.phone.heard.length > resumed + 5);
      expect(streamFaults(one.phone.audio())).to.deep.equal([]);
      await one.endpoint.unbridge();
    }
  });

  it('keeps the other endpoint of an ended bridged one', async () => {
    const one = await phoneWithEndpoint(0, 500);
    const two = await phoneWithEndpoint(0, 900);
    await one.endpoint.bridge(two.endpoint);
    await pause(60);
    await one.endpoint.destroy();
    await pause(60);
    expect(two.endpoint.connected).to.equal(true);
    await two.endpoint.play('tone_stream://%(100,0,1200)');
    expect((await two.endpoint.api('uuid_bridge', [two.endpoint.uuid, one.endpoint.uuid])).getBody()).to.equal(
      '-ERR Invalid uuid\n',
    );
  });

  it('sends digits', async () => {
    const { phone, endpoint } = await phoneWithEndpoint();
    const reply = await endpoint.api('uuid_send_dtmf', [endpoint.uuid, '59*@100']);
    expect(reply.getBody()).to.equal(`+OK ${endpoint.uuid} sent DTMF 59*@100.\n`);
    const ends = () =>
      phone.heard.filter((packet) => packet.payloadType === 101 && (packet.payload[1] as number) & 0x80);
    await until(() => ends().length === 9);
    expect(phone.digits()).to.equal('59*');
    expect(ends().every((packet) => packet.payload.readUInt16BE(2) === 800)).to.equal(true);
    expect((await endpoint.getChannelVariables())['variable_last_dtmf_duration'], '100 ms and 250 ms each').to.equal(
      '1050',
    );
  });

  it('ends a call on an unknown application, without answering the command', async () => {
    const { endpoint } = await phoneWithEndpoint();
    let answered = false;
    void endpoint.execute('nosuchapp', 'x').then(() => {
      answered = true;
    });
    await new Promise((resolve) => endpoint.once('destroy', resolve));
    expect(answered).to.equal(false);
    await until(() => endpoint.dialog.byeHeaders !== undefined);
    expect(endpoint.dialog.byeHeaders?.header('reason')).to.equal('Q.850;cause=27;text="DESTINATION_OUT_OF_ORDER"');
  });

  it('sets and reads variables, with the counters of the media', async () => {
    const { endpoint } = await phoneWithEndpoint();
    await endpoint.set({ lab_b: '1', lab_c: 'two words', lab_d: "it's" });
    await endpoint.export('lab_e', '5');
    expect((await endpoint.api('uuid_getvar', [endpoint.uuid, 'lab_c'])).getBody()).to.equal('two words');
    const variables = await endpoint.getChannelVariables(true);
    expect(variables).to.include({ variable_lab_b: '1', variable_lab_d: "it's", variable_lab_e: '5' });
    expect(variables['variable_rtp_audio_out_packet_count']).to.be.above(0);
  });
});
