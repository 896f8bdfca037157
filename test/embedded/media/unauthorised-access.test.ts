import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { Callers } from '../../../runtime/embedded/media/sip/callers.ts';
import { EslClient } from './support/esl-client.ts';
import { type Bench, type Endpoint, PASSWORD, startBench } from './support/fixture.ts';
import { CallRefused } from './support/mini-srf.ts';
import { RtpPhone, streamFaults, until } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: unauthorised access', () => {
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

  async function party(): Promise<{ phone: RtpPhone; endpoint: Endpoint }> {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    endpoints.push(endpoint);
    return { phone, endpoint };
  }

  it('calls from other machines are refused unless allowed, as a call chooses its controlling application', async () => {
    const own = new Callers(undefined);
    const asked = ['127.0.0.1', '127.28.0.10', '203.0.113.9'];
    expect(asked.map((address) => own.admits(address))).to.deep.equal([true, true, false]);
    const named = new Callers(['203.0.113.9']);
    expect([named.admits('127.0.0.1'), named.admits('203.0.113.9')]).to.deep.equal([false, true]);
    expect(new Callers(['any']).admits('198.51.100.1')).to.equal(true);
    const strict = await startBench({ callers: ['203.0.113.9'] });
    try {
      const uri = `sip:drachtio@${strict.server.addresses['sip'] as string}`;
      const headers = { 'X-esl-outbound': '127.0.0.1:9' };
      const phone = await RtpPhone.open();
      phones.push(phone);
      const refusal: unknown = await strict.srf
        .createUAC(uri, { headers, localSdp: phone.sdp() })
        .catch((e: unknown) => e);
      expect(refusal).to.be.instanceOf(CallRefused);
      expect((refusal as CallRefused).status).to.equal(403);
    } finally {
      await strict.close();
    }
  });

  it('idle event socket connections do not block new ones', async function fills() {
    this.timeout(10_000);
    const address = bench.server.addresses['eventSocket'] as string;
    const [host = '', port] = address.split(':');
    const idle: Socket[] = [];
    for (let count = 0; count < 400; count += 1) {
      const socket = connect(Number(port), host);
      socket.on('error', () => undefined);
      idle.push(socket);
    }
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const client = await EslClient.connect(address);
    client.send(`auth ${PASSWORD}\n\n`);
    const reply = await client.take(({ type }) => type === 'command/reply', 2000);
    expect(reply?.headers.get('Reply-Text')).to.equal('+OK accepted');
    expect((await bench.server.stats()).eventSockets).to.be.below(120);
    for (const socket of idle) socket.destroy();
    client.destroy();
  });

  it('recording and playing refuse devices, pipes, and relative names outside the folders', async () => {
    const { endpoint } = await party();
    const pipe = join(bench.directory, 'pipe.wav');
    execFileSync('mkfifo', [pipe]);
    const record = async (name: string): Promise<string> => bench.ms.api(`uuid_record ${endpoint.uuid} start ${name}`);
    for (const name of [pipe, '/dev/full', '/proc/self/nothing/x.wav', '../outside.wav', 'a/../../outside.wav']) {
      expect(await record(name), name).to.equal('-ERR Cannot record session!\n');
    }
    for (const name of [pipe, '/dev/zero', '/dev/urandom', bench.directory, '../outside.wav', '../../../etc/passwd']) {
      const error: unknown = await endpoint.play(name).catch((each: unknown) => each);
      expect(error, name).to.be.instanceOf(Error);
    }
    expect(await record('a/../inside.wav')).to.equal('+OK Success\n');
    await endpoint.join('pipes');
    await bench.ms.api('conference pipes record ../outside.wav');
    await bench.ms.api(`conference pipes record ${pipe}`);
    await pause(100);
    expect(await bench.ms.api('conference pipes chkrecord')).to.equal('-ERR Conference is not being recorded.\n');
  });

  it('a WAV file with a wrong length is played to its real end', async () => {
    const { endpoint } = await party();
    const name = await bench.tone('honest.wav', 200, 440);
    const { readFile } = await import('node:fs/promises');
    const honest = await readFile(join(bench.directory, name));
    const lie = async (file: string, change: (data: Buffer) => Buffer): Promise<number | string> => {
      await writeFile(join(bench.directory, file), change(Buffer.from(honest)));
      const played: unknown = await endpoint.play(file).catch((error: Error) => error.message);
      return typeof played === 'string'
        ? played
        : Number((played as { playbackMilliseconds: string }).playbackMilliseconds);
    };
    const withLength = (offset: number, length: number) => (data: Buffer) => {
      data.writeUInt32LE(length, offset);
      return data;
    };
    expect(await lie('data-too-long.wav', withLength(40, 0xfffffff0))).to.equal(200);
    expect(await lie('riff-too-long.wav', withLength(4, 0xffffffff))).to.equal(200);
    expect(await lie('riff-zero.wav', withLength(4, 0))).to.equal(200);
    expect(await lie('format-too-long.wav', withLength(16, 0x7fffffff))).to.equal('File Not Found');
    expect(await lie('cut.wav', (data) => data.subarray(0, 44 + 1600))).to.equal(100);
    expect(await lie('odd.wav', (data) => data.subarray(0, 44 + 801))).to.equal(50);
    expect(await lie('no-rate.wav', withLength(24, 0))).to.be.oneOf(['File Not Found', 200]);
  });

  it('foreign RTP, RTCP and digits on all ports do not affect a call', async function floods() {
    this.timeout(15_000);
    const [one, two] = [await party(), await party()];
    one.phone.talk(one.endpoint.local.sdp, 500);
    two.phone.talk(two.endpoint.local.sdp, 900);
    const digits: unknown[] = [];
    for (const { endpoint } of [one, two]) endpoint.on('dtmf', (digit: unknown) => digits.push(digit));
    await one.endpoint.bridge(two.endpoint);
    await until(() => two.phone.level(500, performance.now() - 200) > 3000);
    const stranger = createSocket('udp4');
    const before = two.phone.heard.length;
    const ports = [one, two].flatMap(({ endpoint }) => [
      Number(endpoint.local.mediaPort),
      Number(endpoint.local.mediaPort) + 1,
    ]);
    for (let count = 0; count < 20_000; count += 1) {
      const packet = Buffer.alloc(12 + (count % 7 === 0 ? count % 5 : 160), count);
      packet[0] = 0x80;
      packet[1] = [0, 8, 101, 200, 201, 203][count % 6] as number;
      stranger.send(packet, ports[count % 4] as number, '127.0.0.1');
      if (count % 500 === 0) await pause(1);
    }
    await pause(200);
    const audio = two.phone.audio().slice(before);
    expect(audio.length).to.be.greaterThan(10);
    expect(new Set(audio.map(({ ssrc }) => ssrc)).size).to.equal(1);
    expect(digits).to.deep.equal([]);
    expect(streamFaults(audio.slice(-5))).to.deep.equal([]);
    stranger.close();
  });

  it('malformed digits of the phone are ignored', async () => {
    const { phone, endpoint } = await party();
    const digits: unknown[] = [];
    endpoint.on('dtmf', ({ dtmf }: { dtmf: string }) => digits.push(dtmf));
    phone.talk(endpoint.local.sdp, 500);
    const port = Number(endpoint.local.mediaPort);
    for (const payload of [[], [5], [5, 0x8a], [5, 0x8a, 3], [16, 0x8a, 3, 32], [255, 255, 255, 255]]) {
      const header = Buffer.from([0x80, 0x80 | 101, 0, 1, 0, 0, 0, 9, 1, 2, 3, 4]);
      phone.sendRaw(Buffer.concat([header, Buffer.from(payload)]), port);
    }
    await pause(100);
    phone.press('7');
    await until(() => digits.length > 0);
    expect(digits).to.deep.equal(['7']);
  });
});
