import { join } from 'node:path';
import { expect } from 'chai';
import { EventWatch, type ServerEvent } from '../support/event-watch.ts';
import { type Connected, useMediaStage } from '../support/media-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { writeTone } from '../support/wav.ts';

/** Events of the real server alone, excluded from sequences, as Ringmaster does not need them. */
const INNER = new Set([
  'CHANNEL_STATE',
  'CODEC',
  'PRIVATE_COMMAND',
  'CALL_UPDATE',
  'MEDIA_BUG_START',
  'MEDIA_BUG_STOP',
]);

/** Applications of the dialplan, which the embedded server lacks. */
const DIALPLAN = new Set(['set', 'answer']);

describe('Conformance, media server: events of channels', () => {
  const stage = useMediaStage();
  let watch: EventWatch;

  before('watch every event', async () => {
    watch = await EventWatch.open(stage.address, 'ALL');
  });
  after(() => watch.close());
  afterEach(() => watch.clear());

  const of = ({ endpoint }: Connected): ServerEvent[] =>
    watch.seen.filter((event) => event['Unique-ID'] === endpoint.uuid && event['Event-Name'] !== 'CUSTOM');
  const sequence = (of_: readonly ServerEvent[]): string[] =>
    of_
      .filter(({ 'Event-Name': name = '', Application: app = '' }) => !INNER.has(name) && !DIALPLAN.has(app))
      .map((event) => {
        const { 'Event-Name': name, Application: app, 'Channel-Call-State': state } = event;
        return [name, name === 'CHANNEL_CALLSTATE' ? state : undefined, app]
          .filter((each) => each !== undefined)
          .join(' ');
      });
  const event = async (name: string, channel: Connected): Promise<ServerEvent> =>
    watch.event(name, (each) => each['Event-Name'] === name && each['Unique-ID'] === channel.endpoint.uuid);
  const missing = (of_: ServerEvent, names: readonly string[]): string[] => names.filter((name) => !(name in of_));

  it('cover a channel from INVITE to BYE, with times and media statistics', async () => {
    const caller = await stage.connect();
    caller.call.play(440);
    await caller.endpoint.play('tone_stream://%(200,0,700)');
    await caller.endpoint.destroy();
    const destroyed = await event('CHANNEL_DESTROY', caller);
    expect(sequence(of(caller))).to.deep.equal([
      'CHANNEL_CREATE',
      'CHANNEL_CALLSTATE RINGING',
      'CHANNEL_ANSWER',
      'CHANNEL_CALLSTATE ACTIVE',
      'CHANNEL_EXECUTE socket',
      'CHANNEL_PARK',
      'CHANNEL_EXECUTE playback',
      'PLAYBACK_START',
      'PLAYBACK_STOP',
      'CHANNEL_EXECUTE_COMPLETE playback',
      'CHANNEL_EXECUTE hangup',
      'CHANNEL_HANGUP',
      'CHANNEL_EXECUTE_COMPLETE hangup',
      'CHANNEL_UNPARK',
      'CHANNEL_EXECUTE_COMPLETE socket',
      'CHANNEL_CALLSTATE HANGUP',
      'CHANNEL_HANGUP_COMPLETE',
      'CHANNEL_DESTROY',
    ]);
    const created = await event('CHANNEL_CREATE', caller);
    expect(created).to.include({
      'Channel-State': 'CS_INIT',
      'Answer-State': 'ringing',
      variable_uuid: caller.endpoint.uuid,
      variable_endpoint_disposition: 'RECEIVED',
    });
    const early = ['sip_call_id', 'sip_from_tag', 'sip_user_agent', 'sip_req_user', 'switch_r_sdp', 'ep_codec_string'];
    expect(
      missing(
        created,
        early.map((name) => `variable_${name}`),
      ),
    ).to.deep.equal([]);
    const complete = await event('CHANNEL_HANGUP_COMPLETE', caller);
    for (const end of [complete, destroyed]) {
      expect(end).to.include({
        'Channel-State': 'CS_REPORTING',
        'Answer-State': 'hangup',
        'Hangup-Cause': 'NORMAL_CLEARING',
        variable_hangup_cause: 'NORMAL_CLEARING',
        variable_hangup_cause_q850: '16',
        variable_last_app: 'hangup',
      });
      const figures = ['start_epoch', 'answer_uepoch', 'end_stamp', 'duration', 'billsec', 'billmsec', 'waitsec'];
      expect(
        missing(
          end,
          figures.map((name) => `variable_${name}`),
        ),
      ).to.deep.equal([]);
      expect(Number(end.variable_rtp_audio_in_media_packet_count), 'packets heard').to.be.greaterThan(3);
      expect(Number(end.variable_rtp_audio_out_packet_count), 'packets sent').to.be.greaterThan(3);
      expect(Number(end.variable_mduration)).to.be.within(200, 5000);
    }
  });

  it('have the losses and the jitter of the far end at the end of a channel', async () => {
    const [good, bad] = [await stage.connect(), await stage.connect()];
    // Lost are ten of a hundred packets, all apart, and ten come 60 ms late.
    bad.call.impairSound((number) => (number % 10 === 5 ? 'lost' : number % 10 === 8 ? 60 : 0));
    for (const { call } of [good, bad]) call.play(440);
    await bad.endpoint.play('tone_stream://%(2400,0,700)');
    for (const { endpoint } of [good, bad]) await endpoint.destroy();
    const figure = async (channel: Connected, name: string): Promise<number> =>
      Number((await event('CHANNEL_HANGUP_COMPLETE', channel))[`variable_rtp_audio_${name}`]);
    expect(await figure(bad, 'in_packet_count')).to.be.within(80, 150);
    // FreeSWITCH adds two or more for each gap, and leaves out the first ten packets.
    expect(await figure(bad, 'in_flaw_total')).to.be.within(8, 60);
    expect(await figure(good, 'in_flaw_total')).to.be.below(await figure(bad, 'in_flaw_total'));
    expect(await figure(bad, 'in_jitter_max_variance')).to.be.above(20);
    expect(await figure(bad, 'in_mos')).to.be.within(1, 4.49);
    expect(await figure(bad, 'in_quality_percentage')).to.be.within(1, 95);
    expect(await figure(bad, 'in_mean_interval')).to.be.within(15, 40);
    for (const each of [good, bad]) {
      const end = await event('CHANNEL_HANGUP_COMPLETE', each);
      expect(end).to.include({ variable_rtp_use_codec_name: 'PCMU', variable_read_codec: 'PCMU' });
      expect(end['variable_sip_h_X-esl-outbound']).to.match(/^127\.0\.0\.1:\d+$/);
    }
  });

  it('report a bridge with the other leg, and its end', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    const bridged = await event('CHANNEL_BRIDGE', a);
    expect(bridged).to.include({
      'Bridge-A-Unique-ID': a.endpoint.uuid,
      'Bridge-B-Unique-ID': b.endpoint.uuid,
      'Channel-State': 'CS_SOFT_EXECUTE',
      'Other-Type': 'originatee',
      'Other-Leg-Unique-ID': b.endpoint.uuid,
      'Other-Leg-Destination-Number': 'drachtio',
      'Other-Leg-Source': 'mod_sofia',
      variable_bridge_uuid: b.endpoint.uuid,
      variable_signal_bond: b.endpoint.uuid,
      variable_current_application: 'socket',
    });
    const other = ['Direction', 'Dialplan', 'Caller-ID-Name', 'Network-Addr', 'Context', 'Channel-Name'];
    const times = ['Channel-Created-Time', 'Channel-Answered-Time', 'Channel-Bridged-Time', 'Profile-Created-Time'];
    expect(
      missing(
        bridged,
        [...other, ...times].map((name) => `Other-Leg-${name}`),
      ),
    ).to.deep.equal([]);
    expect(bridged['Caller-Transfer-Source']).to.match(new RegExp(`:uuid_br:${b.endpoint.uuid}$`));
    await b.call.hangup();
    await event('CHANNEL_DESTROY', b);
    const parted = await event('CHANNEL_UNBRIDGE', a);
    expect(parted).to.include({ 'Bridge-A-Unique-ID': a.endpoint.uuid, 'Bridge-B-Unique-ID': b.endpoint.uuid });
    const isPark = (each: ServerEvent): boolean =>
      each['Event-Name'] === 'CHANNEL_PARK' && each['Channel-State'] === 'CS_PARK';
    await watch.event('park', (each) => isPark(each) && each['Unique-ID'] === a.endpoint.uuid);
    expect(sequence(of(a)).slice(4)).to.deep.equal([
      'CHANNEL_EXECUTE socket',
      'CHANNEL_PARK',
      'CHANNEL_UNPARK',
      'CHANNEL_EXECUTE_COMPLETE socket',
      'CHANNEL_EXECUTE uuid_bridge',
      'CHANNEL_BRIDGE',
      'CHANNEL_UNBRIDGE',
      'CHANNEL_PARK',
    ]);
  });

  // CHANNEL_BRIDGE comes a little before the bridge: an earlier execution would report another state.
  it('execution on a bridged leg is reported only after the sound of the bridge flows', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    for (const { endpoint } of [a, b]) {
      await endpoint.api('uuid_setvar', `${endpoint.uuid} execute_on_pre_bridge set flows=yes`);
    }
    await a.endpoint.bridge(b.endpoint);
    await event('CHANNEL_BRIDGE', a);
    for (const [leg, state] of [
      [b, 'CS_EXCHANGE_MEDIA'],
      [a, 'CS_SOFT_EXECUTE'],
    ] as const) {
      await eventually(async () => {
        const done = await leg.endpoint.execute('set', 'told=yes');
        expect(done.getHeader('Channel-State')).to.equal(state);
      });
      const isRun = (each: ServerEvent): boolean =>
        each['Event-Name'] === 'CHANNEL_EXECUTE' && each['Channel-State'] === state && each.Application === 'set';
      const told = await watch.event('told', (each) => isRun(each) && each['Application-Data'] === 'told=yes');
      const run = watch.seen.filter((each) => isRun(each) && each['Unique-ID'] === told['Unique-ID']);
      expect(run.map((each) => each['Application-Data'])).to.deep.equal(['flows=yes', 'told=yes']);
    }
  });

  it('report parking after a separation', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    // A leg that leaves before its media flows is hung up.
    await a.endpoint.api('uuid_setvar', `${a.endpoint.uuid} execute_on_pre_bridge set flows=yes`);
    await a.endpoint.bridge(b.endpoint);
    const flows = await watch.event(
      'execute_on_pre_bridge',
      (each) => each['Event-Name'] === 'CHANNEL_EXECUTE' && each['Application-Data'] === 'flows=yes',
    );
    expect(flows).to.include({ 'Unique-ID': a.endpoint.uuid, Application: 'set', variable_bridge_to: b.endpoint.uuid });
    await event('CHANNEL_BRIDGE', a);
    watch.clear();
    await a.endpoint.unbridge();
    for (const leg of [a, b]) {
      const parked = await event('CHANNEL_PARK', leg);
      expect(parked).to.include({ 'Caller-Dialplan': 'inline', 'Channel-Call-State': 'ACTIVE' });
      expect(parked.variable_transfer_source).to.match(/:bl_xfer:park\/mrf\/inline$/);
      expect(parked).not.to.have.property('Other-Leg-Unique-ID');
    }
    expect(sequence(of(b))).to.deep.equal([
      'CHANNEL_CALLSTATE RINGING',
      'CHANNEL_CALLSTATE ACTIVE',
      'CHANNEL_EXECUTE park',
      'CHANNEL_PARK',
    ]);
  });

  it('name the played file, the recorded file, and the conference', async () => {
    const caller = await stage.connect();
    const prompt = join(stage.folder, 'events.wav');
    writeTone(prompt, 440, 200);
    await caller.endpoint.play(prompt);
    for (const name of ['PLAYBACK_START', 'PLAYBACK_STOP']) {
      expect(await event(name, caller)).to.include({ 'Playback-File-Path': prompt });
    }
    const file = join(stage.folder, 'events-recorded.wav');
    await caller.endpoint.api('uuid_record', `${caller.endpoint.uuid} start ${file}`);
    expect(await event('RECORD_START', caller)).to.include({ 'Record-File-Path': file });
    const room = `events-${process.pid}`;
    await caller.endpoint.join(room);
    const { memberId } = caller.endpoint.conf;
    await caller.endpoint.api('uuid_record', `${caller.endpoint.uuid} stop ${file}`);
    const stopped = await event('RECORD_STOP', caller);
    expect(stopped).to.include({
      'Record-File-Path': file,
      'Channel-Read-Codec-Name': 'L16',
      variable_conference_name: room,
      variable_conference_member_id: String(memberId),
      variable_conference_uuid: caller.endpoint.conf.uuid,
    });
    expect(Number(stopped.variable_record_ms)).to.be.greaterThan(0);
  });
});
