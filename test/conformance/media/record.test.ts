import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { shareAt } from '../../phones/media/tone.ts';
import { eventually } from '../../support/eventually.ts';
import { text } from '../support/fsmrf.ts';
import { useMediaStage } from '../support/media-stage.ts';
import { longestSilence, readRecording } from '../support/wav.ts';

/** The middle of a recording holds this tone. */
function expectTone(file: string, frequency: number): void {
  const { samples } = readRecording(file);
  const middle = samples.subarray(Math.floor(samples.length / 2) - 800, Math.floor(samples.length / 2) + 800);
  expect(shareAt(middle, frequency), `share of ${frequency} Hz`).to.be.greaterThan(0.5);
}

/** Reads the recording once the file has this many milliseconds: the media server completes it after reporting the stop. */
async function written(file: string, milliseconds: number): Promise<ReturnType<typeof readRecording>> {
  return eventually(async () => {
    const recording = readRecording(file);
    expect(recording.samples.length / recording.channels / 8, 'ms written').to.be.at.least(milliseconds);
    return recording;
  });
}

/** Least share of a present tone in a mix of two; a missing one has nearly none. */
const MIXED = 0.08;

describe('Conformance, media server: recording', () => {
  const stage = useMediaStage();

  it('a phone is recorded until the time limit', async () => {
    const { call, endpoint } = await stage.connect();
    call.play(440);
    await endpoint.play('silence_stream://100');
    const file = join(stage.folder, 'limit.wav');
    const began = performance.now();
    const { recordMilliseconds, recordSamples, terminatorUsed } = await endpoint.record(file, { timeLimitSecs: 1 });
    const elapsed = performance.now() - began;
    expect(terminatorUsed).to.equal(null);
    expect(elapsed).to.be.within(900, 10_000);
    // A busy machine loses some.
    expect(Number(recordMilliseconds)).to.be.within(300, elapsed + 100);
    const { rate, channels, samples } = readRecording(file);
    expect([rate, channels]).to.deep.equal([8000, 1]);
    expect(samples.length).to.equal(Number(recordSamples));
    expectTone(file, 440);
  });

  it('RECORD_APPEND appends to an existing file', async () => {
    const { call, endpoint } = await stage.connect();
    const file = join(stage.folder, 'append.wav');
    const parts: number[] = [];
    for (const [frequency, append] of [
      [440, false],
      [1100, true],
    ] as const) {
      call.play(frequency);
      await endpoint.play('silence_stream://200');
      text(await endpoint.api('uuid_setvar_multi', `${endpoint.uuid} RECORD_APPEND=${append}`));
      const { recordSamples } = await endpoint.record(file, { timeLimitSecs: 1 });
      parts.push(Number(recordSamples));
    }
    const { samples } = readRecording(file);
    const [first = 0, second = 0] = parts;
    expect(first).to.be.greaterThan(2400);
    expect(second).to.be.greaterThan(2400);
    expect(samples.length).to.equal(first + second);
    expect(shareAt(samples.subarray(first / 2 - 800, first / 2 + 800), 440), 'first').to.be.greaterThan(0.5);
    const middle = first + second / 2;
    expect(shareAt(samples.subarray(middle - 800, middle + 800), 1100), 'second').to.be.greaterThan(0.5);
  });

  it('a hang-up of the phone reports the length of its recording', async () => {
    const { call, endpoint } = await stage.connect();
    call.play(440);
    const file = join(stage.folder, 'left.wav');
    const recording = endpoint.record(file, { timeLimitSecs: 20 });
    await eventually(async () => expect(existsSync(file)).to.equal(true));
    await call.hearsNot(300, { forMs: 600 });
    await call.hangup();
    expect(Number((await recording).recordMilliseconds)).to.be.within(100, 10_000);
  });

  it('a recording in an unknown format ends the call', async () => {
    const { endpoint } = await stage.connect();
    const ended = once(endpoint, 'destroy');
    void endpoint.record(join(stage.folder, 'x.nosuch'), { timeLimitSecs: 1 });
    await ended;
  });

  it('a recording ends at a configured terminator', async () => {
    const { call, endpoint } = await stage.connect();
    await endpoint.set('playback_terminators', '#');
    const file = join(stage.folder, 'terminated.wav');
    call.play(620);
    const recording = endpoint.record(file, { timeLimitSecs: 10 });
    await endpoint.api('uuid_getvar', `${endpoint.uuid} playback_terminators`);
    await call.hearsNot(300, { forMs: 600 });
    await call.sendDtmf('#');
    const { terminatorUsed, recordMilliseconds } = await recording;
    expect(terminatorUsed).to.equal('#');
    expect(Number(recordMilliseconds)).to.be.within(300, 3000);
  });

  it('both sides of a session are recorded during other applications, and the recording stops', async () => {
    const { call, endpoint } = await stage.connect();
    const file = join(stage.folder, 'session.wav');
    call.play(440);
    await endpoint.recordSession(file);
    await endpoint.play('tone_stream://%(800,0,1500)');
    await endpoint.execute('stop_record_session', file);
    const { samples, channels } = await written(file, 700);
    expect(samples.length / channels / 8).to.be.within(700, 1600);
    const middle = samples.subarray(Math.floor(samples.length / 2) - 800, Math.floor(samples.length / 2) + 800);
    expect(shareAt(middle, 440), 'the phone').to.be.greaterThan(MIXED);
    expect(shareAt(middle, 1500), 'the prompt').to.be.greaterThan(MIXED);
  });

  it('tones have the given level, by default -7 dBm0', async () => {
    const { endpoint } = await stage.connect();
    const peak = async (name: string, tone: string): Promise<number> => {
      const file = join(stage.folder, name);
      await endpoint.recordSession(file);
      await endpoint.play(`tone_stream://${tone}`);
      await endpoint.execute('stop_record_session', file);
      return Math.max(...(await written(file, 300)).samples);
    };
    expect(await peak('level.wav', '%(1000,0,1500)')).to.be.within(9700, 10_700);
    expect(await peak('level-13.wav', 'v=-13;%(1000,0,1500)')).to.be.within(4900, 5500);
  });

  it('uuid_record records a bridge from start to stop', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    a.call.play(440);
    b.call.play(1100);
    await Promise.all([a.call.hears(1100), b.call.hears(440)]);
    const file = join(stage.folder, 'bridge.wav');
    expect(text(await a.endpoint.api('uuid_record', `${a.endpoint.uuid} start ${file}`))).to.match(/^\+OK/);
    await a.call.hearsNot(300, { forMs: 700 });
    expect(text(await a.endpoint.api('uuid_record', `${a.endpoint.uuid} stop ${file}`))).to.match(/^\+OK/);
    const stopped = await written(file, 500);
    expect(stopped.samples.length / stopped.channels / 8).to.be.within(500, 1300);
    const middle = stopped.samples.subarray(1600, 4800);
    expect(shareAt(middle, 440), 'one side').to.be.greaterThan(MIXED);
    expect(shareAt(middle, 1100), 'the other side').to.be.greaterThan(MIXED);
  });

  it('legs are recorded on a channel each, with silence while masked and a gap while paused', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    a.call.play(440);
    b.call.play(1100);
    await a.endpoint.bridge(b.endpoint);
    await Promise.all([a.call.hears(1100), b.call.hears(440)]);
    const file = join(stage.folder, 'stereo.wav');
    const record = async (action: string): Promise<string> =>
      text(await a.endpoint.api('uuid_record', `${a.endpoint.uuid} ${action} ${file}`));
    const pass = async (): Promise<void> => a.call.hearsNot(300, { forMs: 600 });
    await a.endpoint.set('RECORD_STEREO', 'true');
    const began = performance.now();
    expect(await record('start')).to.equal('+OK Success');
    await pass();
    expect(await record('mask')).to.equal('+OK Success');
    await pass();
    expect(await record('unmask')).to.equal('+OK Success');
    await pass();
    expect(await record('pause')).to.equal('+OK Success');
    const recorded = performance.now() - began;
    await pass();
    expect(await record('start'), 'already recording').to.equal('+OK Success');
    expect(await record('stop')).to.equal('+OK Success');
    const { samples, channels } = await written(file, 1700);
    expect(channels).to.equal(2);
    expect(samples.length / channels / 8).to.be.within(1700, recorded + 200);
    const masked = longestSilence(samples, channels);
    expect(masked.toMs - masked.fromMs, 'masked').to.be.within(400, recorded - 1000);
    const side = (channel: 0 | 1, fromMs: number): Int16Array =>
      Int16Array.from({ length: 1600 }, (_, index) => samples[(fromMs * 8 + index) * 2 + channel] ?? 0);
    for (const from of [masked.fromMs - 300, masked.toMs + 100]) {
      expect(shareAt(side(0, from), 440), `left at ${from} ms`).to.be.greaterThan(0.5);
      expect(shareAt(side(1, from), 1100), `right at ${from} ms`).to.be.greaterThan(0.5);
    }
  });

  it('RECORD_READ_ONLY records the phone only, with silence when masked from the start', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    a.call.play(440);
    b.call.play(1100);
    await a.endpoint.bridge(b.endpoint);
    await Promise.all([a.call.hears(1100), b.call.hears(440)]);
    const [alone, masked] = [join(stage.folder, 'alone.wav'), join(stage.folder, 'masked.wav')];
    const record = async (action: string, file: string): Promise<string> =>
      text(await a.endpoint.api('uuid_record', `${a.endpoint.uuid} ${action} ${file}`));
    await a.endpoint.set('RECORD_READ_ONLY', 'true');
    expect(await record('start', alone)).to.equal('+OK Success');
    await a.endpoint.set('RECORD_READ_ONLY', 'false');
    const both = await Promise.all([record('start', masked), record('mask', masked)]);
    expect(both).to.deep.equal(['+OK Success', '+OK Success']);
    await a.call.hearsNot(300, { forMs: 700 });
    for (const file of [alone, masked]) expect(await record('stop', file)).to.equal('+OK Success');
    const { samples, channels } = await written(alone, 500);
    expect(channels).to.equal(1);
    const said = samples.subarray(1600, 4800);
    // A phone beside busy processes sends late at times.
    expect(shareAt(said, 440), 'the phone').to.be.greaterThan(0.5);
    expect(shareAt(said, 1100), 'the other side').to.be.lessThan(0.02);
    const silent = await written(masked, 500);
    // FreeSWITCH records a frame or two before the mask.
    const after = silent.samples.subarray(160 * 3);
    expect(Math.max(...after.map(Math.abs)), 'while masked').to.be.lessThan(20);
  });

  it('unknown recording commands are refused', async () => {
    const { endpoint } = await stage.connect();
    const record = async (args: string): Promise<string> => (await stage.media.api(`uuid_record ${args}`)).trim();
    expect(await record(`${endpoint.uuid} begin x.wav`)).to.match(/^-USAGE: <uuid>/);
    expect(await record(endpoint.uuid)).to.match(/^-USAGE: <uuid>/);
    expect(await record('00000000-0000-4000-8000-000000000000 start x.wav')).to.equal('-ERR Cannot locate session!');
    expect(await record(`${endpoint.uuid} mask ${stage.folder}/none.wav`)).to.equal(
      '-ERR Cannot mask recording session!',
    );
    expect(await record(`${endpoint.uuid} start /proc/none/x.wav`)).to.equal('-ERR Cannot record session!');
    const unknown = join(stage.folder, 'x.nosuch');
    expect(await record(`${endpoint.uuid} start ${unknown}`)).to.equal('-ERR Cannot record session!');
    expect(existsSync(unknown)).to.equal(false);
  });

  it('stopping an unknown recording is refused', async () => {
    const { endpoint } = await stage.connect();
    const file = join(stage.folder, 'never.wav');
    expect(text(await endpoint.api('uuid_record', `${endpoint.uuid} stop ${file}`))).to.match(/^-ERR/);
    expect(existsSync(file)).to.equal(false);
  });
});
