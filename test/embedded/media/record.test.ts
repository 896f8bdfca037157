import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readWav } from '../../../runtime/embedded/media/audio/wav.ts';
import { type Bench, type Endpoint, startBench } from './support/fixture.ts';
import { amplitude, RtpPhone } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: recording', () => {
  let bench: Bench;
  let phone: RtpPhone;
  let endpoint: Endpoint;

  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());
  beforeEach(async () => {
    phone = await RtpPhone.open();
    endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    phone.talk(endpoint.local.sdp, 500);
  });
  afterEach(async () => {
    await endpoint.destroy();
    await phone.close();
    await bench.settled();
  });

  async function recorded(name: string): Promise<Int16Array> {
    return readWav(await readFile(join(bench.directory, name)));
  }

  it('records the far end until the time limit', async function () {
    // A late process spoils the measured time; a wrong time is wrong each time.
    this.retries(2);
    const result = await endpoint.record('limit.wav', { timeLimitSecs: 1 });
    expect(Date.now() % 1000, 'ms into the second').to.be.below(250);
    // The limit counts begun seconds of the clock: it ends when the second after it begins.
    expect(Number(result['recordMilliseconds'])).to.be.within(900, 2020);
    const samples = await recorded('limit.wav');
    expect(samples.length).to.equal(Number(result['recordSamples']));
    expect(amplitude(samples, 500)).to.be.above(7000);
  });

  it('stops at silence', async function () {
    // A late process spoils the measured time; a wrong time is wrong each time.
    this.retries(2);
    const recording = endpoint.record('silence.wav', { timeLimitSecs: 10, silenceThresh: 200, silenceHits: 1 });
    await pause(300);
    phone.talk(endpoint.local.sdp, 0);
    const result = await recording;
    expect(Number(result['recordMilliseconds'])).to.be.within(1150, 1600);
  });

  it('treats a phone that sends nothing as silent', async () => {
    const start = performance.now();
    const recording = endpoint.record('nothing.wav', { timeLimitSecs: 60, silenceThresh: 200, silenceHits: 1 });
    await pause(300);
    phone.quiet();
    const came = Number((await recording)['recordMilliseconds']);
    expect(came, 'without the second in which nothing came').to.be.within(1, performance.now() - start - 900);
  });

  it('includes the time without packets with record_fill_cng', async () => {
    await endpoint.set('record_fill_cng', 'true');
    const recording = endpoint.record('filled.wav', { timeLimitSecs: 60, silenceThresh: 200, silenceHits: 1 });
    await pause(300);
    phone.quiet();
    expect(Number((await recording)['recordMilliseconds'])).to.be.above(1000);
  });

  it('stops at a terminator digit and excludes its sound', async () => {
    await endpoint.set('playback_terminators', '#');
    const recording = endpoint.record('digit.wav', { timeLimitSecs: 10 });
    await pause(400);
    phone.press('1');
    await pause(400);
    phone.press('#');
    expect(await recording).to.include({ terminatorUsed: '#' });
    expect((await recorded('digit.wav')).length / 8).to.be.within(400, 900);
  });

  it('records both directions of a session', async () => {
    await endpoint.recordSession('session.wav');
    await endpoint.play('tone_stream://%(500,0,1300)');
    await endpoint.execute('stop_record_session', 'session.wav');
    const samples = await recorded('session.wav');
    expect(samples.length / 8).to.be.within(500, 900);
    expect(amplitude(samples, 500)).to.be.above(5000);
    expect(amplitude(samples, 1300)).to.be.above(5000);
  });

  it('records both sides of a bridge, masks, and answers like the real server', async function () {
    // A late process spoils the measured time; a wrong time is wrong each time.
    this.retries(2);
    const other = await RtpPhone.open(8);
    const second = await bench.ms.createEndpoint({ remoteSdp: other.sdp() });
    other.talk(second.local.sdp, 900);
    try {
      await endpoint.bridge(second);
      const api = async (action: string): Promise<string> =>
        (await endpoint.api('uuid_record', [endpoint.uuid, action, 'bridge.wav'])).getBody();
      expect(await api('start')).to.equal('+OK Success\n');
      await pause(400);
      expect(await api('mask')).to.equal('+OK Success\n');
      await pause(400);
      expect(await api('unmask')).to.equal('+OK Success\n');
      expect(await api('stop')).to.equal('+OK Success\n');
      expect(await api('stop')).to.equal('-ERR Cannot stop record session!\n');
      const samples = await recorded('bridge.wav');
      const start = samples.subarray(800, 2800);
      expect(amplitude(start, 500)).to.be.above(4000);
      expect(amplitude(start, 900)).to.be.above(4000);
      expect(amplitude(samples.subarray(4400, 6400), 500)).to.be.below(50);
    } finally {
      await second.destroy();
      await other.close();
    }
  });
});
