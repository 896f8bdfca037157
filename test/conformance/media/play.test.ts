import { join } from 'node:path';
import { expect } from 'chai';
import { Arrivals } from '../../phones/wait.ts';
import { text } from '../support/fsmrf.ts';
import { fallsSilent, useMediaStage } from '../support/media-stage.ts';
import { writeTone } from '../support/wav.ts';

/**
 * A play runs on a 20 ms raster and is reported by events; the length seen by the application may differ this much on a
 * busy machine.
 */
const SLACK_MS = 2000;

describe('Conformance, media server: playing', function () {
  // A late process spoils the measured time; a wrong time is wrong each time.
  this.retries(2);
  const stage = useMediaStage();
  let second: string;

  before(() => {
    second = join(stage.folder, 'one-second.wav');
    writeTone(second, 440, 1000);
  });

  const timed = async <T>(work: Promise<T>): Promise<{ value: T; ms: number }> => {
    const started = performance.now();
    const value = await work;
    return { value, ms: performance.now() - started };
  };

  it('a file is played to its end, and its length reported', async () => {
    const { call, endpoint } = await stage.connect();
    const [{ value, ms }] = await Promise.all([timed(endpoint.play(second)), call.hears(440)]);
    expect(value).to.deep.equal({
      playbackSeconds: '1',
      playbackMilliseconds: '1000',
      playbackLastOffsetPos: '8000',
    });
    expect(ms).to.be.within(980, 1000 + SLACK_MS);
  });

  it('events report the start and end of a play', async () => {
    const { endpoint } = await stage.connect();
    const events = new Arrivals<string>('playback event');
    endpoint.on('playback-start', ({ file }: { file: string }) => events.push(`start ${file}`));
    endpoint.on('playback-stop', ({ file }: { file: string }) => events.push(`stop ${file}`));
    const tone = 'tone_stream://%(200,0,800)';
    const playing = endpoint.play(tone);
    expect(await events.next(1000)).to.equal(`start ${tone}`);
    expect(await events.next(1000)).to.equal(`stop ${tone}`);
    await playing;
  });

  it('tones and silence have the given length', async () => {
    const { call, endpoint } = await stage.connect();
    const [tone] = await Promise.all([timed(endpoint.play('tone_stream://%(500,0,800)')), call.hears(800)]);
    expect(tone.value.playbackMilliseconds).to.equal('500');
    expect(tone.ms).to.be.within(480, 500 + SLACK_MS);
    const silence = await timed(endpoint.play('silence_stream://300'));
    expect(silence.value.playbackMilliseconds).to.equal('300');
    expect(silence.ms).to.be.within(280, 300 + SLACK_MS);
  });

  it('a dual tone has both frequencies, loops, and observes its pause', async () => {
    const { call, endpoint } = await stage.connect();
    const playing = timed(endpoint.play('tone_stream://%(200,100,350,440);loops=3'));
    await Promise.all([call.hears(350), call.hears(440)]);
    const { ms } = await playing;
    expect(ms).to.be.within(860, 900 + SLACK_MS);
  });

  it('a list is played with pauses of 250 ms between its files', async () => {
    const { endpoint } = await stage.connect();
    const { ms } = await timed(endpoint.play(['tone_stream://%(300,0,800)', 'tone_stream://%(300,0,400)']));
    expect(ms).to.be.within(830, 850 + SLACK_MS);
  });

  it('a play may start at an offset in samples', async () => {
    const { endpoint } = await stage.connect();
    const { value, ms } = await timed(endpoint.play({ file: second, seekOffset: 4000 }));
    expect(value.playbackMilliseconds).to.equal('500');
    expect(value.playbackLastOffsetPos).to.equal('8000');
    expect(ms).to.be.within(480, 500 + SLACK_MS);
  });

  it('a missing file fails', async () => {
    const { endpoint } = await stage.connect();
    const message = await endpoint.play(join(stage.folder, 'none.wav')).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    expect(message).to.equal('File Not Found');
    await endpoint.play('silence_stream://20');
  });

  for (const stream of ['local_stream://nosuch', 'nosuch://stream']) {
    it(`the unknown stream ${stream} fails`, async () => {
      const { endpoint } = await stage.connect();
      const failure = await endpoint.play(stream).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      expect((failure as Error).message).to.equal('File Not Found');
    });
  }

  it('uuid_break stops a play', async () => {
    const { call, endpoint } = await stage.connect();
    const playing = timed(endpoint.play('tone_stream://%(10000,0,800)'));
    await call.hears(800);
    expect(text(await endpoint.api('uuid_break', endpoint.uuid))).to.equal('+OK');
    const { ms } = await playing;
    expect(ms).to.be.lessThan(2000);
    await call.hearsNot(800, { forMs: 300 });
  });

  it('uuid_fileman pauses and resumes a play, and uuid_break ends a paused one', async () => {
    const { call, endpoint } = await stage.connect();
    const pause = async () => text(await endpoint.api('uuid_fileman', `${endpoint.uuid} pause`));
    expect(await pause()).to.equal('-ERR No file handle!');
    const playing = endpoint.play('tone_stream://%(10000,0,800)');
    await call.hears(800);
    expect(await pause()).to.equal('+OK');
    await fallsSilent(call, 800);
    expect(await pause()).to.equal('+OK');
    await call.hears(800);
    expect(await pause()).to.equal('+OK');
    await fallsSilent(call, 800);
    await endpoint.api('uuid_break', endpoint.uuid);
    const { playbackMilliseconds } = await playing;
    expect(Number(playbackMilliseconds)).to.be.below(9000);
  });

  it('nested plays run the later one first', async () => {
    const { call, endpoint } = await stage.connect();
    const order: string[] = [];
    const outer = endpoint.play('tone_stream://%(900,0,400)').then(() => order.push('outer'));
    await call.hears(400);
    const inner = endpoint.play('tone_stream://%(300,0,1200)').then(() => order.push('inner'));
    await call.hears(1200);
    await Promise.all([inner, outer]);
    expect(order).to.deep.equal(['inner', 'outer']);
  });

  it('a play ends at its time limit, which must exceed a second', async () => {
    const { endpoint } = await stage.connect();
    const { ms } = await timed(endpoint.play({ file: 'tone_stream://%(60000,0,800)', timeoutSecs: 2 }));
    expect(ms).to.be.within(1900, 15_000);
  });

  it('hold music plays without end', async () => {
    const { call, endpoint } = await stage.connect();
    const playing = endpoint.play('local_stream://moh');
    await call.hearsSound();
    await endpoint.api('uuid_break', `${endpoint.uuid} all`);
    await playing;
  });

  it('uuid_broadcast and uuid_displace play over the sound of an application', async () => {
    const { call, endpoint } = await stage.connect();
    const tone = 'tone_stream://%(400,0,950)';
    expect(text(await endpoint.api('uuid_broadcast', `${endpoint.uuid} ${tone} aleg`))).to.match(/^\+OK/);
    await call.hears(950);
    expect(text(await endpoint.api('uuid_displace', `${endpoint.uuid} start ${second}`))).to.match(/^\+OK/);
    expect(text(await endpoint.api('uuid_displace', `${endpoint.uuid} stop ${second}`))).to.match(/^\+OK/);
  });

  it('silence is sent while nothing plays', async () => {
    const { call, endpoint } = await stage.connect();
    await endpoint.play('silence_stream://40');
    const before = call.rtp().received;
    const { ms } = await timed(endpoint.execute('sleep', '400'));
    const sent = call.rtp().received - before;
    expect(sent).to.be.within(15, ms / 20 + 6);
  });
});
