import { writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChannelRecording } from '../../runtime/media/channel-recording.ts';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { recordPhone } from '../../runtime/media/record.ts';
import { tapEndpoint } from '../../runtime/media/tap.ts';
import { readWavShape, wavDuration, wavSamples } from '../../runtime/media/wav-file.ts';
import { level, shareAt } from '../phones/media/tone.ts';
import { EslClient } from '../embedded/media/support/esl-client.ts';
import { amplitude, type RtpPhone } from '../embedded/media/support/rtp-phone.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useLinkedServer } from './linked-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** All samples of one channel. */
async function channelOf(file: string, channel: number): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for await (const part of wavSamples(file, channel)) parts.push(part);
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Hertz. */
const [ONE, TWO] = [500, 900] as const;

/** Settles when each phone has heard the other one for half a second. */
async function bothHear(one: RtpPhone, two: RtpPhone): Promise<void> {
  await eventually(async () => {
    for (const [phone, tone] of [
      [one, TWO],
      [two, ONE],
    ] as const) {
      const heard = phone.samples().slice(-4000);
      expect(heard).to.have.length(4000);
      expect(shareAt(heard, tone)).to.be.above(0.9);
    }
  }, 5000);
}

/** Expects one tone with a gap at most, and nothing of the other. */
function expectOnly(samples: Int16Array, tone: number, other: number): void {
  expect(shareAt(samples, tone)).to.be.above(0.25);
  expect(shareAt(samples, other)).to.be.below(0.05);
}

describe('media: recordings and taps beside a call', () => {
  const folder = temporaryFolder();
  const server = useLinkedServer();

  async function party(frequency: number): Promise<{ phone: RtpPhone; endpoint: MediaEndpoint }> {
    const { endpoint, phone } = await server.endpoint();
    phone.talk(endpoint.localSdp, frequency);
    return { phone, endpoint };
  }

  it('recordings left by a killed node are stopped, of channels and conferences, and no others', async () => {
    const [one, two] = [await party(ONE), await party(TWO)];
    const [left, kept, mixed] = ['left.wav', 'kept.wav', 'mixed.wav'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    // By commands, so that nobody in this process knows of them.
    const esl = await EslClient.connect(`${server.address.host}:${server.address.port}`);
    const ask = async (command: string): Promise<string> => {
      esl.send(`api ${command}\n\n`);
      return (await esl.take(({ type }) => type === 'api/response', 2000))?.body ?? '';
    };
    try {
      esl.send(`auth ${server.address.secret}\n\n`);
      for (const file of [left, kept]) await ask(`uuid_record ${one.endpoint.uuid} start ${file}`);
      void two.endpoint.conference('left-behind').catch(() => undefined);
      await eventually(
        async () => expect(await ask('conference left-behind list')).to.contain(two.endpoint.uuid),
        3000,
      );
      await ask(`conference left-behind recording start ${mixed}`);
      await eventually(async () => expect(await ask('conference json_list')).to.contain(mixed), 3000);
      // FreeSWITCH lists a channel a moment after it is there.
      await eventually(async () => expect(await ask('show channels as json')).to.contain(one.endpoint.uuid), 3000);
      await server.link.endRecordings(new Set([left, mixed, join(folder, 'never.wav')]));
      const taps = await ask(`uuid_buglist ${one.endpoint.uuid}`);
      expect(taps).to.contain(`<target>${kept}</target>`);
      expect(taps).not.to.contain(left);
      expect(await ask('conference json_list')).not.to.contain(mixed);
      expect(wavDuration(await readWavShape(left))).to.be.below(10_000);
    } finally {
      esl.destroy();
    }
    await Promise.all([one.endpoint.destroy(), two.endpoint.destroy()]);
  });

  it('a message is recorded until the phone is silent, without that silence', async () => {
    const { phone, endpoint } = await party(ONE);
    const file = join(folder, 'message.wav');
    const { signal } = new AbortController();
    const recording = recordPhone(endpoint, { signal, file, maxMs: 60_000, silenceMs: 1000, stopDigits: '#' });
    await pause(400);
    phone.quiet();
    const { milliseconds, reason } = await recording;
    expect(reason).to.equal('silence');
    expect(milliseconds).to.be.above(0);
    const whole = wavDuration(await readWavShape(file));
    expect(whole - milliseconds, 'the silence').to.be.within(999, 1001);
    await endpoint.destroy();
  });

  it('a recording observes its limit, also in fractions of a second', async () => {
    const { endpoint } = await party(ONE);
    const file = join(folder, 'short.wav');
    const { signal } = new AbortController();
    const recorded = await recordPhone(endpoint, { signal, file, maxMs: 1200, silenceMs: 0, stopDigits: '' });
    expect(recorded).to.deep.equal({ milliseconds: 1200, reason: 'limit', digit: undefined });
    await endpoint.destroy();
  });

  it('a recording that ends with the phone is not a message, also when its notice comes first', async () => {
    const { endpoint } = await party(ONE);
    const file = join(folder, 'cut.wav');
    const { signal } = new AbortController();
    const over = recordPhone(endpoint, { signal, file, maxMs: 60_000, silenceMs: 0, stopDigits: '' }).then(
      ({ reason }) => reason,
      (error: Error) => error.name,
    );
    await eventually(async () => expect((await stat(file)).isFile()).to.equal(true), 3000);
    server.srf.afterBye = over.then(() => undefined);
    await endpoint.destroy();
    expect(await over).to.equal('EndpointGone');
    server.srf.afterBye = undefined;
  });

  it('each party is recorded on its own channel', async () => {
    const [one, two] = [await party(ONE), await party(TWO)];
    const file = join(folder, 'stereo.wav');
    const recording = await ChannelRecording.start(one.endpoint, { file, party: 'left' });
    await one.endpoint.bridge(two.endpoint);
    await bothHear(one.phone, two.phone);
    await recording.stop();
    expect(wavDuration(await readWavShape(file))).to.be.within(300, 10_000);
    const [left, right] = [await channelOf(file, 0), await channelOf(file, 1)];
    expectOnly(left.slice(-2400), ONE, TWO);
    expectOnly(right.slice(-2400), TWO, ONE);
    await Promise.all([one.endpoint.destroy(), two.endpoint.destroy()]);
  });

  it('channels are swapped for the right party', async () => {
    const [one, two] = [await party(ONE), await party(TWO)];
    const file = join(folder, 'swapped.wav');
    const recording = await ChannelRecording.start(two.endpoint, { file, party: 'right' });
    await one.endpoint.bridge(two.endpoint);
    await bothHear(one.phone, two.phone);
    await recording.stop();
    const [left, right] = [await channelOf(file, 0), await channelOf(file, 1)];
    expectOnly(left.slice(-2400), ONE, TWO);
    expectOnly(right.slice(-2400), TWO, ONE);
    await Promise.all([one.endpoint.destroy(), two.endpoint.destroy()]);
  });

  it('a folder with spaces in its name is recorded into, also for a single party', async () => {
    const { endpoint } = await party(ONE);
    const both = join(folder, 'two words', 'both.wav');
    const recording = await ChannelRecording.start(endpoint, { file: both, party: 'left' });
    await pause(200);
    await recording.pause();
    await recording.resume();
    await recording.stop();
    expect((await readWavShape(both)).dataBytes).to.be.above(0);
    const one = join(folder, 'two words', 'one.wav');
    await endpoint.record({ file: one, maxMs: 1000, silenceMs: 0, append: false }, new AbortController().signal);
    expect((await readWavShape(one)).dataBytes).to.be.above(0);
    await endpoint.destroy();
  });

  it('silence is written while paused', async () => {
    const { endpoint } = await party(ONE);
    const file = join(folder, 'paused.wav');
    const recording = await ChannelRecording.start(endpoint, { file, party: 'left' });
    await pause(400);
    await recording.pause();
    await pause(400);
    await recording.resume();
    await pause(400);
    await recording.stop();
    const samples = await channelOf(file, 0);
    const third = Math.floor(samples.length / 3);
    const levels = [0, 1, 2].map((part) => level(samples.slice(part * third + 800, (part + 1) * third - 800)));
    expect(levels[0]).to.be.above(1000);
    expect(levels[1]).to.equal(0);
    expect(levels[2]).to.be.above(1000);
    await endpoint.destroy();
  });

  it('the end of the channel completes the file and is reported', async () => {
    const { endpoint } = await party(ONE);
    const file = join(folder, 'hung-up.wav');
    const recording = await ChannelRecording.start(endpoint, { file, party: 'left' });
    await pause(300);
    await endpoint.destroy();
    await recording.completed;
    expect(wavDuration(await readWavShape(file))).to.be.within(200, 1000);
    // Stopping what has stopped is no mistake.
    await recording.stop();
  });

  it('a recording that fails reports the reason', async () => {
    const { endpoint } = await party(ONE);
    const blocked = join(folder, 'a-file');
    writeFileSync(blocked, '');
    const file = join(blocked, 'under-a-file.wav');
    const failure = await ChannelRecording.start(endpoint, { file, party: 'left' }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).to.match(/refused uuid_record: -ERR/);
    await endpoint.destroy();
  });

  it('a tap hears one party only, within a bridge and after it', async () => {
    const [one, two] = [await party(ONE), await party(TWO)];
    const heard: number[] = [];
    const tap = await tapEndpoint(one.endpoint, (samples) => heard.push(...samples));
    await pause(300);
    await one.endpoint.bridge(two.endpoint);
    await pause(300);
    await one.endpoint.unbridge(two.endpoint);
    await pause(300);
    const samples = Int16Array.from(heard);
    expect(samples.length, 'samples without a gap').to.be.above(8000 * 0.8);
    for (const at of [0.2, 0.5, 0.8]) {
      const start = Math.floor(samples.length * at);
      const window = samples.slice(start, start + 1600);
      expect(shareAt(window, ONE), `share of the party at ${at}`).to.be.above(0.5);
      expect(amplitude(window, TWO), `the other party at ${at}`).to.be.below(200);
    }
    await tap.close();
    const count = heard.length;
    await pause(100);
    expect(heard.length).to.equal(count);
    await Promise.all([one.endpoint.destroy(), two.endpoint.destroy()]);
  });

  it('a tap does not disturb its call', async () => {
    const [one, two] = [await party(ONE), await party(TWO)];
    await one.endpoint.bridge(two.endpoint);
    const tap = await tapEndpoint(one.endpoint, () => undefined);
    await pause(150);
    const from = performance.now();
    await pause(300);
    expect(one.phone.level(TWO, from)).to.be.above(3000);
    expect(two.phone.level(ONE, from)).to.be.above(3000);
    expect(two.phone.level(TWO, from)).to.be.below(200);
    await tap.close();
    await Promise.all([one.endpoint.destroy(), two.endpoint.destroy()]);
  });

  it('a tap ends with its party', async () => {
    const { endpoint } = await party(ONE);
    const tap = await tapEndpoint(endpoint, () => undefined);
    const over = new Promise((resolve) => tap.over.addEventListener('abort', resolve, { once: true }));
    await endpoint.destroy();
    await over;
  });

  it('no endpoint is left behind', () => eventually(async () => expect(server.link.count).to.equal(0)));
});
