import { connect } from 'node:net';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { readDescription } from '../../../runtime/embedded/media/sip/sdp.ts';
import { parsePlayAndGetDigits } from '../../../runtime/embedded/media/apps/play-and-get-digits.ts';
import { ListenError, startMediaServer } from '../../../runtime/embedded/index.ts';
import { newCallId, SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { freeUdpRange } from '../../support/ports.ts';
import { EslClient } from './support/esl-client.ts';
import { type Bench, PASSWORD, startBench } from './support/fixture.ts';
import { CallRefused } from './support/mini-srf.ts';
import { RtpPhone, streamFaults, until } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: hostile input', () => {
  let bench: Bench;

  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());
  afterEach(async () => {
    await bench.settled();
    expect(await bench.ms.api('create_uuid')).to.match(/^[0-9a-f-]{36}$/);
  });

  const eventSocket = (): string => bench.server.addresses['eventSocket'] as string;

  async function authenticated(): Promise<EslClient> {
    const client = await EslClient.connect(eventSocket());
    client.send(`auth ${PASSWORD}\n\n`);
    await client.take((frame) => frame.type === 'command/reply', 2000);
    return client;
  }

  it('refuses commands without authentication and a wrong password', async () => {
    const client = await EslClient.connect(eventSocket());
    client.send('api hupall\n\n');
    expect((await client.take((frame) => frame.type === 'command/reply', 2000))?.headers.get('Reply-Text')).to.equal(
      '-ERR command not found',
    );
    client.send('auth wrong\n\n');
    expect((await client.take((frame) => frame.type === 'command/reply', 2000))?.headers.get('Reply-Text')).to.equal(
      '-ERR invalid',
    );
    await until(() => client.closed);
  });

  it('answers broken commands with an error, and closes on oversized ones', async () => {
    const client = await authenticated();
    for (const text of [
      '',
      'x',
      'sendmsg',
      'sendmsg nobody\ncall-command: execute',
      'event',
      'event xml ALL',
      'filter',
      'filter X',
      'api',
      'bgapi',
      'nixevent',
    ]) {
      client.send(`${text}\n\n`);
    }
    await until(() => client.frames.length >= 10);
    client.send(`y: ${'z'.repeat(100_000)}`);
    await until(() => client.closed);
  });

  it('survives any bytes on the event socket (seeded fuzz)', async () => {
    const piece = fc.constantFrom(
      'api ',
      'bgapi ',
      'sendmsg ',
      'event json ',
      'filter ',
      'conference ',
      'uuid_',
      'show ',
      'ALL',
      'x',
      '\n',
      '\n\n',
      'Content-Length: 5\n',
      'call-command: execute\n',
      'execute-app-name: playback\n',
      ' list',
      '{',
      '\0',
      'ü',
      '%',
      '-1',
    );
    const samples = fc.sample(fc.array(piece, { minLength: 1, maxLength: 30 }), { seed: 20261121, numRuns: 60 });
    for (const pieces of samples) {
      const client = await authenticated();
      client.send(`${pieces.join('')}\n\n`);
      client.end();
    }
  });

  it('disconnects a client that subscribes to everything and does not read', async function () {
    this.timeout(20_000);
    const [host, port] = eventSocket().split(':') as [string, string];
    const deaf = connect(Number(port), host);
    await once(deaf, 'connect');
    deaf.pause();
    deaf.on('error', () => undefined);
    deaf.write(`auth ${PASSWORD}\n\nevent plain ALL\n\n`);
    const client = await authenticated();
    // Of 60 kB to each that listens for jobs.
    const job = `bgapi strepoch ${'x'.repeat(60_000)}\n\n`;
    const others = 2;
    for (let rounds = 0; rounds < 100; rounds += 1) {
      for (let jobs = 0; jobs < 20; jobs += 1) client.send(job);
      // The bench's own client listens as well, and has read all before its answer: it never is behind.
      await bench.ms.api('strepoch');
      // A paused socket notices its end only when it reads, so the server's count is checked.
      if ((await bench.server.stats()).eventSockets === others) break;
    }
    expect((await bench.server.stats()).eventSockets).to.equal(others);
    deaf.destroy();
    client.end();
  });

  it('a call is not affected by foreign or broken RTP packets', async () => {
    const [one, two] = [await RtpPhone.open(), await RtpPhone.open()];
    const first = await bench.ms.createEndpoint({ remoteSdp: one.sdp() });
    const second = await bench.ms.createEndpoint({ remoteSdp: two.sdp() });
    one.talk(first.local.sdp, 500);
    two.talk(second.local.sdp, 900);
    await first.bridge(second);
    await until(() => two.level(500, performance.now() - 200) > 3000);
    const stranger = createSocket('udp4');
    const target = Number(first.local.mediaPort);
    const before = two.heard.length;
    const datagrams = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 300 }), { seed: 7, numRuns: 300 });
    for (const datagram of datagrams) {
      const rtp = Buffer.from(datagram);
      if (rtp.length > 12) rtp.set([0x80, 0], 0);
      stranger.send(rtp, target, '127.0.0.1');
      one.sendRaw(Buffer.from(datagram).fill(0x40, 0, 1), target); // not version 2
    }
    await pause(300);
    const audio = two.audio().slice(before);
    expect(audio.length).to.be.within(3, 60);
    expect(streamFaults(audio)).to.deep.equal([]);
    stranger.close();
    await first.destroy();
    await second.destroy();
    await one.close();
    await two.close();
  });

  it('refuses unusable INVITEs', async () => {
    const uri = `sip:drachtio@${bench.server.addresses['sip'] as string}`;
    const attempt = async (options: { headers?: Record<string, string>; localSdp?: string }): Promise<number> => {
      const refusal: unknown = await bench.srf.createUAC(uri, options).catch((error: unknown) => error);
      return refusal instanceof CallRefused ? refusal.status : 200;
    };
    const phone = await RtpPhone.open();
    const headers = { 'X-esl-outbound': '127.0.0.1:9' };
    expect(await attempt({ localSdp: phone.sdp() })).to.equal(404);
    expect(await attempt({ headers: { 'X-esl-outbound': 'nonsense' }, localSdp: phone.sdp() })).to.equal(404);
    expect(await attempt({ headers, localSdp: 'not sdp' })).to.equal(400);
    expect(await attempt({ headers, localSdp: phone.sdp().replace('RTP/AVP', 'RTP/SAVP') })).to.equal(488);
    expect(await attempt({ headers, localSdp: 'v=0\r\nm=audio 99999999 RTP/AVP 0\r\n' })).to.equal(400);
    await phone.close();
  });

  it('refuses an INVITE with unreadable addresses, and keeps nothing of it', async () => {
    const uri = `sip:drachtio@${bench.server.addresses['sip'] as string}`;
    const phone = await RtpPhone.open();
    for (const [field, value] of [
      ['Contact', '<sip:1.2.3.4:99999999>'],
      ['To', '<sip:drachtio@127.0.0.1:99999999>'],
      ['From', '<sip:node@127.0.0.1:99999999>;tag=1'],
    ] as const) {
      const invite = new SipRequest('INVITE', uri).add('Max-Forwards', '70').add('From', '<sip:node@127.0.0.1>;tag=1');
      invite
        .add('To', `<${uri}>`)
        .add('Call-ID', newCallId())
        .add('CSeq', '1 INVITE')
        .add('Contact', bench.srf.contact);
      invite.add('X-esl-outbound', '127.0.0.1:9').set(field, value);
      invite.body = Buffer.from(phone.sdp());
      const { response } = await bench.srf.send(invite);
      expect(response.status, field).to.equal(400);
      await bench.settled();
    }
    await phone.close();
  });

  it('reads a numeric address as text, as sockets require', async () => {
    const phone = await RtpPhone.open();
    const offer = phone.sdp().replace(/c=IN IP4 \S+/, 'c=IN IP4 10');
    expect(readDescription(offer)?.audio?.address).to.equal('10');
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: offer });
    await endpoint.play('silence_stream://100');
    expect(await bench.ms.api(`uuid_exists ${endpoint.uuid}`)).to.equal('true');
    await endpoint.destroy();
    await phone.close();
  });

  it('refuses unreadable requests in a dialog, and keeps the call', async () => {
    const phone = await RtpPhone.open();
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    const { dialog } = endpoint;
    const broken = dialog.build('INVITE', phone.sdp()).set('Contact', '<sip:1.2.3.4:99999999>');
    expect((await bench.srf.send(broken)).response.status).to.be.oneOf([200, 400]);
    expect(
      (await dialog.request('INFO', { 'Content-Type': 'application/dtmf-relay' }, 'Signal=?\r\n')).status,
    ).to.equal(200);
    expect((await dialog.request('PUBLISH')).status).to.equal(405);
    await pause(30);
    expect(await bench.ms.api(`uuid_exists ${endpoint.uuid}`)).to.equal('true');
    await bench.ms.api(`uuid_kill ${endpoint.uuid}`);
    await phone.close();
  });

  it('reads any session description or refuses it (seeded fuzz)', () => {
    const lines = [
      'v=0',
      'o=- 1 1 IN IP4 127.0.0.1',
      's=-',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      'm=audio 4000 RTP/AVP 0 8 101',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=sendrecv',
      'm=video 0 RTP/AVP 96',
      'a=crypto:1 X inline:y',
      'm=audio',
      'a=',
      'c=IN IP6 ::1',
      'a=rtpmap:x y/z/q',
      'm=audio -1 RTP/AVP',
      'a=inactive',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...lines), { maxLength: 14 }),
        fc.array(fc.tuple(fc.nat(400), fc.string({ maxLength: 3 })), { maxLength: 4 }),
        (chosen, edits) => {
          let text = ['v=0', ...chosen].join('\r\n');
          for (const [at, insert] of edits) text = text.slice(0, at) + insert + text.slice(at + 1);
          const audio = readDescription(text)?.audio;
          if (audio !== undefined) expect(audio.port).to.be.within(1, 65_535);
        },
      ),
      { seed: 20261121, numRuns: 2000, interruptAfterTimeLimit: 3000 },
    );
  });

  it('reads any arguments of play_and_get_digits, or refuses them (seeded fuzz)', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.nat(999).map(String), fc.constantFrom('#', 'none', "'a b'", 'x.wav', '\\d+', '(', '-1', '')),
          { maxLength: 12 },
        ),
        (words) => {
          const rules = parsePlayAndGetDigits(words.join(' '));
          if (rules === undefined) return;
          expect(rules.max).to.be.within(1, 128);
          expect(rules.tries).to.be.within(1, 100);
        },
      ),
      { seed: 20261121, numRuns: 2000, interruptAfterTimeLimit: 2000 },
    );
  });

  it('names a taken address and an invalid option', async () => {
    const options = {
      password: 'x',
      media: '127.0.0.1:0',
      profile: 'drachtio_mrf',
      rtpPorts: await freeUdpRange(10),
      sounds: '.',
      recordings: '.',
    };
    const taken = await startMediaServer({ ...options, eventSocket: eventSocket() }).catch((error: unknown) => error);
    expect(taken).to.be.instanceOf(ListenError).with.property('code', 'EADDRINUSE');
    const message = `media server: cannot listen on ${eventSocket()} (the address is in use)`;
    expect(taken).to.have.property('message', message);
    const wrong = await startMediaServer({ ...options, eventSocket: 'nowhere' }).catch((error: unknown) => error);
    expect(wrong).to.include({ name: 'MediaServerOptionError' });
  });

  it('answers 488 when all RTP ports are in use, and accepts calls when they are free again', async () => {
    const small = await startBench({ rtpPorts: await freeUdpRange(4) });
    const phone = await RtpPhone.open();
    const endpoints = [
      await small.ms.createEndpoint({ remoteSdp: phone.sdp() }),
      await small.ms.createEndpoint({ remoteSdp: phone.sdp() }),
    ];
    const refusal = await small.ms.createEndpoint({ remoteSdp: phone.sdp() }).catch((error: unknown) => error);
    expect(refusal).to.include({ status: 488 });
    for (const endpoint of endpoints) await endpoint.destroy();
    await small.settled();
    await (await small.ms.createEndpoint({ remoteSdp: phone.sdp() })).destroy();
    await phone.close();
    await small.close();
  });

  it('200 successive calls leave nothing behind', async function () {
    this.timeout(30_000);
    const phone = await RtpPhone.open();
    for (let call = 0; call < 50; call += 1) {
      const group = await Promise.all(
        Array.from({ length: 4 }, () => bench.ms.createEndpoint({ remoteSdp: phone.sdp() })),
      );
      await Promise.all(group.map((endpoint) => endpoint.destroy()));
    }
    await phone.close();
    await bench.settled();
    const { eventSockets, channels, rtpSockets } = await bench.server.stats();
    expect({ eventSockets, channels, rtpSockets }).to.deep.equal({ eventSockets: 1, channels: 0, rtpSockets: 0 });
  });
});
