import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { EventWatch, type ServerEvent } from '../support/event-watch.ts';
import { text } from '../support/fsmrf.ts';
import { type Connected, fallsSilent, useMediaStage } from '../support/media-stage.ts';

describe('Conformance, media server: further applications and commands', () => {
  const stage = useMediaStage();
  let watch: EventWatch;

  before('watch tones and the heartbeat', async () => {
    watch = await EventWatch.open(stage.address, 'DETECTED_TONE HEARTBEAT CHANNEL_PARK CHANNEL_HANGUP_COMPLETE');
  });
  after(() => watch.close());

  const api = async (command: string): Promise<string> => (await stage.media.api(command)).trim();
  const pair = async (): Promise<{ a: Connected; b: Connected }> => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    a.call.play(440);
    b.call.play(700);
    await a.endpoint.bridge(b.endpoint);
    await Promise.all([a.call.hears(700), b.call.hears(440)]);
    return { a, b };
  };

  it('say speaks supported types, and otherwise ends at once', async () => {
    const { endpoint } = await stage.connect();
    for (const what of ['en number iterated 12', 'xx number pronounced 1', 'en']) await endpoint.execute('say', what);
    expect(await api(`uuid_exists ${endpoint.uuid}`)).to.equal('true');
  });

  it('playback of a text tells when there is no engine of that name', async () => {
    const { endpoint } = await stage.connect();
    expect(await api(`uuid_setvar_multi ${endpoint.uuid} tts_engine=unheard_of;tts_voice=en`)).to.equal('+OK');
    const ended = await endpoint.execute('playback', 'say:nobody speaks this');
    expect(ended.getHeader('Application-Response')).to.equal('PLAYBACK ERROR');
  });

  it('uuid_transfer runs applications one after another, and uuid_park parks the channel', async () => {
    const { call, endpoint } = await stage.connect();
    expect(await api(`uuid_transfer ${endpoint.uuid} echo inline`)).to.equal('+OK');
    call.play(440);
    await call.hears(440);
    const playThenPark = String.raw`playback:tone_stream://%(600\,0\,1900),set:played=yes,park`;
    expect(await api(`uuid_transfer ${endpoint.uuid} ${playThenPark} inline`)).to.equal('+OK');
    await call.hears(1900);
    await fallsSilent(call, 440);
    await eventually(async () => expect(await api(`uuid_getvar ${endpoint.uuid} played`)).to.equal('yes'));
    watch.clear();
    expect(await api(`uuid_park ${endpoint.uuid}`)).to.equal('+OK');
    await watch.event('CHANNEL_PARK', (event) => event['Unique-ID'] === endpoint.uuid);
    expect(await api('uuid_park 00000000-0000-4000-8000-000000000000')).to.equal('-ERR No such channel!');
    expect(await api(`uuid_transfer ${endpoint.uuid}`)).to.match(/^-USAGE: <uuid>/);
  });

  it('the application transfer runs applications, too', async () => {
    const { call, endpoint } = await stage.connect();
    watch.clear();
    await endpoint.execute('transfer', 'set:lab=moved,park inline');
    await watch.event('CHANNEL_PARK', (event) => event['Unique-ID'] === endpoint.uuid);
    expect(await api(`uuid_getvar ${endpoint.uuid} lab`)).to.equal('moved');
    call.play(440);
    await endpoint.execute('transfer', 'echo inline');
    await call.hears(440);
  });

  it('uuid_break ends echo', async () => {
    const { call, endpoint } = await stage.connect();
    call.play(440);
    const echoing = endpoint.execute('echo');
    await call.hears(440);
    await endpoint.api('uuid_break', endpoint.uuid);
    expect((await echoing).getHeader('Application')).to.equal('echo');
    await fallsSilent(call, 440);
  });

  it('a channel can be transferred more often than Max-Forwards allows', async () => {
    const { endpoint } = await stage.connect();
    for (let times = 1; times <= 75; times++) {
      expect(await api(`uuid_transfer ${endpoint.uuid} park inline`), `transfer ${times}`).to.equal('+OK');
    }
    expect(await api(`uuid_exists ${endpoint.uuid}`)).to.equal('true');
  });

  it('transfer to hangup ends a channel with the given cause', async () => {
    const { endpoint } = await stage.connect();
    watch.clear();
    await api(`uuid_transfer ${endpoint.uuid} hangup:USER_BUSY inline`);
    const isEnd = (event: ServerEvent): boolean => event['Event-Name'] === 'CHANNEL_HANGUP_COMPLETE';
    const ended = await watch.event('hangup', (event) => isEnd(event) && event['Unique-ID'] === endpoint.uuid);
    expect(ended['Hangup-Cause']).to.equal('USER_BUSY');
    expect(await api(`uuid_exists ${endpoint.uuid}`)).to.equal('false');
  });

  it('sched_hangup ends a channel at the given time, however distant', async () => {
    const { endpoint } = await stage.connect();
    expect(await api(`sched_hangup +99999999 ${endpoint.uuid}`)).to.equal('+OK');
    await endpoint.play('silence_stream://100');
    expect(await api(`uuid_exists ${endpoint.uuid}`)).to.equal('true');
    watch.clear();
    await api(`sched_hangup +1 ${endpoint.uuid} USER_BUSY`);
    const end = await watch.event('CHANNEL_HANGUP_COMPLETE', (event) => event['Unique-ID'] === endpoint.uuid);
    expect(end['Hangup-Cause']).to.equal('USER_BUSY');
  });

  it('removing one leg from a bridge parks the other', async () => {
    const { a, b } = await pair();
    expect(await api(`uuid_transfer ${a.endpoint.uuid} -bleg echo inline`)).to.equal('+OK');
    await b.call.hears(700);
    await fallsSilent(a.call, 700);
    expect(await api(`uuid_exists ${a.endpoint.uuid}`)).to.equal('true');
  });

  it('uuid_broadcast plays to one leg of a bridge, which continues', async () => {
    const { a, b } = await pair();
    expect(await api(`uuid_broadcast ${a.endpoint.uuid} tone_stream://%(500,0,1900) aleg`)).to.equal(
      '+OK Message sent',
    );
    await a.call.hears(1900);
    await b.call.hearsNot(1900, { forMs: 150 });
    await Promise.all([a.call.hears(700), b.call.hears(440)]);
    await api(`uuid_broadcast ${a.endpoint.uuid} set::told=yes aleg`);
    await eventually(async () => expect(await api(`uuid_getvar ${a.endpoint.uuid} told`)).to.equal('yes'));
    expect(await api('uuid_broadcast 00000000-0000-4000-8000-000000000000 x')).to.equal('-ERR invalid uuid');
  });

  it('tone_detect reports a tone once, by command and application, and runs the given application', async () => {
    const { call, endpoint } = await stage.connect();
    const uuid = endpoint.uuid;
    const answer = await api(`tone_detect ${uuid} fax 1100 r +20 set heard=fax 1`);
    expect(answer).to.equal("+OK Enabling tone detection 'fax' '1100' 'r'");
    watch.clear();
    call.play(1100);
    await watch.event('the tone', (event) => event['Detected-Tone'] === 'fax' && event['Unique-ID'] === uuid);
    await eventually(async () => expect(await api(`uuid_getvar ${uuid} heard`)).to.equal('fax'));
    call.play(undefined);
    await call.hearsNot(300, { forMs: 200 });
    call.play(1100);
    await call.hearsNot(300, { forMs: 400 });
    const heard = watch.seen.filter((event) => event['Event-Name'] === 'DETECTED_TONE');
    expect(heard.map((event) => event['Unique-ID'])).to.deep.equal([undefined, uuid]);
    await endpoint.execute('stop_tone_detect', '');
    expect(await api('tone_detect 00000000-0000-4000-8000-000000000000 k 440')).to.equal('-ERR Cannot locate session!');
    expect(await api(`tone_detect ${uuid} k`)).to.equal('-ERR no reply');
  });

  it('uuid_dump has the media statistics of a channel', async () => {
    const { call, endpoint } = await stage.connect();
    call.play(440);
    await endpoint.play('tone_stream://%(400,0,700)');
    expect(text(await endpoint.api('uuid_set_media_stats', endpoint.uuid))).to.equal('+OK:');
    const dump = JSON.parse(await stage.media.api(`uuid_dump ${endpoint.uuid} json`)) as Record<string, string>;
    for (const name of ['in_packet_count', 'in_media_packet_count', 'out_packet_count', 'out_media_packet_count']) {
      expect(Number(dump[`variable_rtp_audio_${name}`]), name).to.be.within(10, 1000);
    }
    expect(Number(dump.variable_rtp_audio_in_raw_bytes)).to.be.greaterThan(10 * 172);
    expect(Number(dump.variable_rtp_audio_in_quality_percentage)).to.be.within(50, 100);
    expect(Number(dump.variable_rtp_audio_in_mos)).to.be.within(3, 4.5);
    expect(dump).to.include({ 'Unique-ID': endpoint.uuid, 'Event-Name': 'CHANNEL_DATA', 'Answer-State': 'answered' });
    const plain = await stage.media.api(`uuid_dump ${endpoint.uuid}`);
    expect(plain).to.include(`\nUnique-ID: ${endpoint.uuid}\n`);
  });

  it('show lists channels and bridged calls', async () => {
    const { a, b } = await pair();
    // The real server updates its table with a delay.
    await eventually(async () => {
      const channels = JSON.parse(await stage.media.api('show channels as json')) as { rows: Record<string, string>[] };
      const own = channels.rows.filter((row) => row.uuid === a.endpoint.uuid || row.uuid === b.endpoint.uuid);
      expect(own.map((row) => row.application)).to.deep.equal(['uuid_bridge', 'uuid_bridge']);
      expect(own[0]).to.include({ direction: 'inbound', dest: 'drachtio', read_codec: 'PCMU', initial_context: 'mrf' });
    });
    expect(await api('show channels count')).to.match(/^\d+ total\.$/);
  });

  it('HEARTBEAT reports the state every five seconds', async function tellsEvery() {
    this.timeout(12_000);
    const heartbeat = await watch.event('HEARTBEAT', (event) => event['Event-Name'] === 'HEARTBEAT', 6500);
    expect(heartbeat).to.include({ 'Event-Info': 'System Ready' });
    for (const name of [
      'Up-Time',
      'FreeSWITCH-Version',
      'Session-Count',
      'Max-Sessions',
      'Session-Per-Sec',
      'Idle-CPU',
    ]) {
      expect(heartbeat, name).to.have.property(name);
    }
    expect(Number(heartbeat['Session-Since-Startup'])).to.be.greaterThan(3);
  });
});
