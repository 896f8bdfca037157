import { join } from 'node:path';
import { expect } from 'chai';
import type { Codec } from '../../phones/media/codecs.ts';
import { shareAt } from '../../phones/media/tone.ts';
import { eventually } from '../../support/eventually.ts';
import { REAL_MEDIA } from '../../support/real-servers.ts';
import { text } from '../support/fsmrf.ts';
import { type Connected, useMediaStage } from '../support/media-stage.ts';
import { readRecording } from '../support/wav.ts';

/** A tone that only wideband carries, and one that all do. */
const HIGH = 6000;
const LOW = 1000;

describe('Conformance, media server: wideband', () => {
  const stage = useMediaStage();

  const bridged = async (one: readonly Codec[], other: readonly Codec[]): Promise<[Connected, Connected]> => {
    const [a, b] = [await stage.connect(one), await stage.connect(other)];
    await a.endpoint.bridge(b.endpoint);
    return [a, b];
  };

  it('Opus is answered before G.722, and that before G.711, with telephone-events of its clock', async () => {
    const opus = await stage.connect(['PCMU', 'G722', 'OPUS']);
    expect(opus.call.session.remote?.codecs).to.deep.equal(['OPUS']);
    const { endpoint, call } = await stage.connect(['PCMU', 'G722']);
    expect(call.session.remote?.codecs).to.deep.equal(['G722']);
    expect(text(await endpoint.api('uuid_getvar', `${endpoint.uuid} rtp_use_codec_name`))).to.equal('G722');
    const clock = await stage.connect(['OPUS']);
    expect(clock.endpoint.local.sdp).to.match(/^a=rtpmap:101 telephone-event\/48000/m);
    expect(clock.endpoint.local.sdp).to.match(/^a=fmtp:111 .*useinbandfec=1/m);
  });

  it('an endpoint without far end offers them all', async () => {
    const endpoint = stage.keep(await stage.media.createEndpoint());
    const { local } = endpoint;
    const known = text(await endpoint.api('uuid_getvar', `${endpoint.uuid} rtp_use_codec_string`));
    expect(known.split(',')).to.include('OPUS');
    const names = [...local.sdp.matchAll(/^a=rtpmap:\d+ (\S+)/gm)].map((match) => (match[1] as string).toLowerCase());
    expect(names).to.include.members(['opus/48000/2', 'telephone-event/48000', 'telephone-event/8000']);
    expect(local.sdp).to.match(/^m=audio \d+ RTP\/AVP \d+ 9 0 8 /m);
  });

  for (const [one, other] of [
    ['OPUS', 'OPUS'],
    ['G722', 'G722'],
    ['OPUS', 'G722'],
  ] as const) {
    it(`6 kHz are heard between ${one} and ${other}`, async () => {
      const [a, b] = await bridged([one], [other]);
      a.call.play(HIGH);
      b.call.play(HIGH);
      await Promise.all([a.call.hears(HIGH, { withinMs: 10_000 }), b.call.hears(HIGH, { withinMs: 10_000 })]);
    });
  }

  for (const [one, other] of [
    ['OPUS', 'PCMU'],
    ['G722', 'PCMA'],
  ] as const) {
    it(`${one} and ${other} hear each other, and digits pass`, async () => {
      const [a, b] = await bridged([one], [other]);
      a.call.play(LOW);
      b.call.play(LOW);
      await Promise.all([a.call.hears(LOW, { withinMs: 10_000 }), b.call.hears(LOW, { withinMs: 10_000 })]);
      await a.call.sendDtmf('58');
      await b.call.receivesDtmf('58', { withinMs: 10_000 });
      await b.call.sendDtmf('3');
      await a.call.receivesDtmf('3', { withinMs: 10_000 });
    });
  }

  it('digits of Opus count by its clock', async () => {
    const { call, endpoint } = await stage.connect(['OPUS']);
    const durations: number[] = [];
    endpoint.on('dtmf', (event: { duration: string }) => durations.push(Number(event.duration)));
    await call.sendDtmf('7');
    await eventually(async () => expect(durations).to.have.length(1));
    // FreeSWITCH reports them as they come.
    expect(durations[0]).to.be.within(700, REAL_MEDIA ? 5000 : 900);
    expect(text(await endpoint.api('uuid_send_dtmf', `${endpoint.uuid} 4`))).to.match(/^\+OK/);
    await call.receivesDtmf('4', { withinMs: 10_000 });
  });

  it('a re-INVITE changes the codec, and holds', async () => {
    const [a, b] = await bridged(['OPUS'], ['OPUS']);
    a.dialog.on('modify', (request: { body: string }, response: { send(status: number, options: object): void }) => {
      void a.endpoint.modify(request.body).then((body) => response.send(200, { body }));
    });
    const steps: readonly (readonly [Codec, number])[] = [
      ['PCMA', LOW],
      // FreeSWITCH takes G.722 for 8 kHz once the bridge has begun with another codec: half the speed.
      ...(REAL_MEDIA ? [] : [['G722', HIGH] as const]),
      ['OPUS', HIGH],
    ];
    for (const [codec, tone] of steps) {
      a.call.session.codecs = [codec];
      await a.call.unhold();
      expect(a.call.session.remote?.codecs).to.deep.equal([codec]);
      a.call.play(tone);
      b.call.play(tone);
      await Promise.all([a.call.hears(tone, { withinMs: 10_000 }), b.call.hears(tone, { withinMs: 10_000 })]);
    }
    await a.call.hold();
    await eventually(() => a.call.hearsNot(HIGH, { forMs: 250 }));
    await a.call.unhold();
    await a.call.hears(HIGH, { withinMs: 10_000 });
  });

  it('members of a conference with wideband hear 6 kHz of each other, and all hear all', async () => {
    const members = await Promise.all([stage.connect(['OPUS']), stage.connect(['G722']), stage.connect(['PCMU'])]);
    const room = `wide${Date.now()}`;
    for (const { endpoint } of members) void endpoint.execute('conference', `${room}@default`);
    const [opus, g722, g711] = members;
    opus.call.play(HIGH);
    await g722.call.hears(HIGH, { withinMs: 10_000 });
    g711.call.play(LOW);
    await Promise.all([opus.call.hears(LOW, { withinMs: 10_000 }), g722.call.hears(LOW, { withinMs: 10_000 })]);
    opus.call.play(1500);
    await g711.call.hears(1500, { withinMs: 10_000 });
  });

  it('tones are played, and calls recorded, at the rate of the leg', async () => {
    const { call, endpoint } = await stage.connect(['G722']);
    const file = join(stage.folder, 'wide.wav');
    expect(text(await endpoint.api('uuid_record', `${endpoint.uuid} start ${file}`))).to.match(/^\+OK/);
    call.play(HIGH);
    const played = endpoint.play(`tone_stream://%(1500,0,${HIGH - 500})`);
    await call.hears(HIGH - 500, { withinMs: 10_000 });
    await played;
    expect(text(await endpoint.api('uuid_record', `${endpoint.uuid} stop ${file}`))).to.match(/^\+OK/);
    await eventually(async () => {
      const { rate, samples } = readRecording(file);
      expect(rate).to.equal(16_000);
      const middle = samples.subarray(samples.length / 2 - 1600, samples.length / 2 + 1600);
      expect(shareAt(middle, HIGH, rate) + shareAt(middle, HIGH - 500, rate)).to.be.greaterThan(0.5);
    });
  });

  it('malformed packets, and those of other payload types, leave this and other calls alone', async () => {
    const [a, b] = await bridged(['OPUS'], ['PCMU']);
    const packet = (type: number, payload: Uint8Array): Buffer =>
      Buffer.concat([Buffer.of(0x80, type, 1, 2, 0, 0, 0, 1, 0, 0, 0, 9), payload]);
    for (const payload of [[], [0xff], [0xff, 0xff, 0xff], [3, 63], Array.from({ length: 1400 }, (_, at) => at & 0xff)])
      for (const type of [111, 101, 0, 9, 96, 127]) a.call.session.rtp.inject(packet(type, Uint8Array.from(payload)));
    a.call.play(LOW);
    b.call.play(LOW);
    await Promise.all([a.call.hears(LOW, { withinMs: 10_000 }), b.call.hears(LOW, { withinMs: 10_000 })]);
  });
});
