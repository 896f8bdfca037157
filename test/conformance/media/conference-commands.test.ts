import { REAL_MEDIA } from '../../support/real-servers.ts';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { EventWatch, type ServerEvent } from '../support/event-watch.ts';
import { type Connected, useMediaStage } from '../support/media-stage.ts';

/** Of a conference of G.711 alone. */
const RATE = REAL_MEDIA ? '16000' : '8000';

interface JsonMember {
  readonly type: string;
  readonly id: number;
  readonly uuid: string;
  readonly record_path?: string;
  readonly flags: Record<string, boolean>;
}

interface JsonConference {
  readonly conference_name: string;
  readonly member_count: number;
  readonly recording: boolean;
  readonly variables: Record<string, string>;
  readonly members: readonly JsonMember[];
}

describe('Conformance, media server: conference commands and their events', () => {
  const stage = useMediaStage();
  let watch: EventWatch;
  let rooms = 0;

  before('watch conference events', async () => {
    watch = await EventWatch.open(stage.address, 'CUSTOM conference::maintenance');
  });
  after(() => watch.close());
  afterEach(() => watch.clear());

  const newRoom = (): string => {
    rooms += 1;
    return `cmd-${process.pid}-${rooms}`;
  };
  // The conference of the previous test may still be ending.
  const of = (room: string): ServerEvent[] => watch.seen.filter((event) => event['Conference-Name'] === room);
  const eventOf = async (room: string, action: string, member?: Connected): Promise<ServerEvent> =>
    watch.event(
      action,
      (event) =>
        event.Action === action &&
        event['Conference-Name'] === room &&
        (member === undefined || event['Member-ID'] === String(idOf(member))),
    );
  const command = async (room: string, rest: string): Promise<string> => stage.media.api(`conference ${room} ${rest}`);
  const idOf = ({ endpoint }: Connected): number => endpoint.conf.memberId;
  const pair = async (): Promise<{ room: string; one: Connected; two: Connected }> => {
    const room = newRoom();
    const [one, two] = [await stage.connect(), await stage.connect()];
    await one.endpoint.join(room, { flags: { moderator: true } });
    await watch.event('floor', (event) => event['New-ID'] === String(idOf(one)));
    await two.endpoint.join(room);
    return { room, one, two };
  };
  const list = async (room: string): Promise<JsonConference> => {
    const [conference] = JSON.parse(await command(room, 'json_list')) as [JsonConference];
    return conference;
  };

  it('events cover a conference from its first member to its last', async () => {
    const { room, one, two } = await pair();
    one.call.play(440);
    await eventOf(room, 'start-talking', one);
    one.call.play(undefined);
    await eventOf(room, 'stop-talking', one);
    await two.endpoint.confKick();
    await eventOf(room, 'del-member', two);
    await command(room, 'hup all');
    const destroyed = await eventOf(room, 'conference-destroy');
    expect(of(room).map(({ Action: action = '', 'Member-ID': id = '' }) => `${action} ${id}`.trim())).to.deep.equal([
      'conference-create',
      `add-member ${idOf(one)}`,
      `floor-change ${idOf(one)}`,
      `add-member ${idOf(two)}`,
      `start-talking ${idOf(one)}`,
      `stop-talking ${idOf(one)}`,
      `kick-member ${idOf(two)}`,
      `del-member ${idOf(two)}`,
      `hup-member ${idOf(one)}`,
      'floor-change',
      `del-member ${idOf(one)}`,
      'conference-destroy',
    ]);
    const [created, added] = of(room);
    expect(created).to.include({
      'Conference-Name': room,
      'Conference-Size': '0',
      'Conference-Profile-Name': 'default',
    });
    expect(added).to.include({
      'Unique-ID': one.endpoint.uuid,
      'Conference-Size': '1',
      'Member-Type': 'moderator',
      Hear: 'true',
      Speak: 'true',
      Talking: 'false',
      Floor: 'false',
    });
    expect(new Set(of(room).map((event) => event['Conference-Unique-ID'])).size).to.equal(1);
    expect(destroyed['Conference-Size']).to.equal('0');
  });

  it('list shows members as JSON, and xml_list as XML', async () => {
    const { room, one, two } = await pair();
    const conference = await list(room);
    expect(conference).to.include({ conference_name: room, member_count: 2, recording: false });
    expect(conference.members.map(({ id, uuid }) => ({ id, uuid }))).to.deep.equal([
      { id: idOf(two), uuid: two.endpoint.uuid },
      { id: idOf(one), uuid: one.endpoint.uuid },
    ]);
    expect(conference.members[1]?.flags).to.include({ can_hear: true, can_speak: true, is_moderator: true });
    const xml = await command(room, 'xml_list');
    expect(xml).to.match(/^<\?xml version="1.0"\?>\n<conferences>\n {2}<conference name="cmd-/);
    expect([...xml.matchAll(/<id>(\d+)<\/id>/g)].map(([, id]) => Number(id))).to.deep.equal([idOf(two), idOf(one)]);
    expect((await command(room, 'list delim ,')).split('\n')[0]?.split(',')[2]).to.equal(two.endpoint.uuid);
    expect(await command(room, 'count')).to.equal('2');
    expect(await stage.media.api('conference list summary')).to.include(
      `+OK Conference ${room} (2 members rate: ${RATE} flags: `,
    );
  });

  it('relate shows and clears relationships', async () => {
    const { room, one, two } = await pair();
    const [a, b] = [idOf(one), idOf(two)];
    expect(await command(room, 'relate')).to.equal('+OK No relationships\n');
    expect(await command(room, `relate ${a} ${b} nospeak`)).to.equal(`+OK ${a}->${b} nospeak set\n`);
    expect(await command(room, `relate ${a}`)).to.equal(`${a} -> ${b} NOSPEAK HEAR NOSENDVIDEO \n`);
    expect(await command(room, `relate ${b}`)).to.equal('-ERR no reply\n');
    expect(await command(room, `relate ${a} ${b} nohear`)).to.equal(`+OK ${a}->${b} nohear set\n`);
    expect(await command(room, `relate ${a}`)).to.equal(`${a} -> ${b} SPEAK NOHEAR NOSENDVIDEO \n`);
    expect(await command(room, `relate ${a} ${b} sendvideo`)).to.equal(`+OK ${a}->${b} sendvideo set\n`);
    expect(await command(room, `relate ${a} 99999 nohear`)).to.equal(`-ERR relationship ${a}->99999 not found.\n`);
    expect(await command(room, `relate ${a} ${b} nothing`)).to.match(/^relate <member_id>/);
    expect(await command(room, `relate ${a},${b} ${a},${b} clear`)).to.equal(
      [a, b].flatMap((from) => [a, b].map((to) => `+OK relationship ${from}->${to} cleared.\n`)).join(''),
    );
    expect(await command(room, 'relate')).to.equal('+OK No relationships\n');
  });

  it('commands accept non_moderator and last, and refuse unknown members', async () => {
    const { room, one, two } = await pair();
    expect(await command(room, 'mute non_moderator')).to.equal(
      `+OK mute ${idOf(two)}\nSkipping moderator (member id ${idOf(one)}).\n`,
    );
    expect(await eventOf(room, 'mute-member', two)).to.include({ Speak: 'false', Hear: 'true' });
    expect(await command(room, 'unmute last')).to.equal(`+OK unmute ${idOf(two)}\n`);
    expect(await eventOf(room, 'unmute-member', two)).to.include({ Speak: 'true' });
    expect(await command(room, `deaf ${idOf(two)}`)).to.equal(`+OK deaf ${idOf(two)}\n`);
    expect(await eventOf(room, 'deaf-member', two)).to.include({ Hear: 'false' });
    expect(await command(room, `hold ${idOf(two)}`)).to.equal(`+OK hold ${idOf(two)}\n`);
    expect(await eventOf(room, 'hold-member', two)).to.include({ Hold: 'true' });
    expect((await list(room)).members[0]?.flags).to.include({ hold: true, can_hear: false, can_speak: false });
    expect(await command(room, 'mute 99999')).to.equal('-ERR Non-Existant ID 99999\n');
    expect(await command(room, 'mute')).to.equal('mute <[member_id|all]|last|non_moderator> [<quiet>]');
    expect(await command(room, 'nothing')).to.equal("-ERR Conference command 'nothing' not found.\n");
  });

  it('floor is given only when it is free', async () => {
    const { room, one, two } = await pair();
    expect(await command(room, `floor ${idOf(two)}`)).to.equal(`-ERR floor is held by ${idOf(one)}\n`);
    two.call.play(700);
    const change = await watch.event('change of the floor', (event) => event['New-ID'] === String(idOf(two)));
    expect(change).to.include({ Action: 'floor-change', 'Old-ID': String(idOf(one)) });
  });

  it('setvar adds a variable to every event, and sets a limit of members', async () => {
    const { room, one } = await pair();
    expect(await command(room, 'setvar topic budget')).to.equal('+OK\n');
    expect(await command(room, 'getvar topic')).to.equal('budget');
    expect(await command(room, 'set max_members 2')).to.equal('0');
    expect(await command(room, 'get max_members')).to.equal('2');
    await command(room, `mute ${idOf(one)}`);
    expect(await eventOf(room, 'mute-member')).to.include({ topic: 'budget' });
    const third = await stage.connect();
    // There is no event: the application returns at once without joining.
    await third.endpoint.execute('conference', room);
    expect(await command(room, 'count')).to.equal('2');
  });

  it('record starts, pauses, resumes and stops, and events report the file', async () => {
    const { room, one, two } = await pair();
    one.call.play(600);
    const file = `${stage.folder}/${room}.wav`;
    expect(await command(room, `record ${file}`)).to.equal(`+OK Record file ${file}\n`);
    await eventOf(room, 'start-recording');
    await eventually(async () => expect((await list(room)).members[0]).to.include({ type: 'recording_node' }), 2000);
    expect(await command(room, `record ${file}`)).to.equal(
      `-ERR file [${file}] is already being used for recording.\n`,
    );
    expect(await command(room, 'chkrecord')).to.equal(`+OK Record file ${file}\n`);
    expect(await command(room, `recording pause ${file}`)).to.equal(`+OK Pause recording file ${file}\n`);
    expect(await eventOf(room, 'pause-recording')).to.include({ Path: file, 'Other-Recordings': 'true' });
    expect(await command(room, `recording resume ${file}`)).to.equal(`+OK Resume recording file ${file}\n`);
    await two.call.hears(600);
    expect(await command(room, `norecord ${file}`)).to.include(`Stopped recording file ${file}\n`);
    const stopped = await eventOf(room, 'stop-recording');
    expect(stopped).to.include({ Path: file, 'Other-Recordings': 'false', Samplerate: RATE });
    expect(Number(stopped['Record-File-Size'])).to.be.greaterThan(44);
    expect(await command(room, 'norecord nothing.wav')).to.match(/^-ERR non-existant recording 'nothing.wav'\n/);
  });

  it('an event reports a file that cannot be recorded', async () => {
    const { room } = await pair();
    const file = `${stage.folder}/no-folder.wav/file.wav`;
    await command(room, `record ${stage.folder}/no-folder.wav`);
    await eventOf(room, 'start-recording');
    watch.clear();
    expect(await command(room, `record ${file}`)).to.equal(`+OK Record file ${file}\n`);
    expect(await eventOf(room, 'start-recording')).to.include({ Error: 'File could not be opened for recording' });
    expect(await eventOf(room, 'stop-recording')).to.include({ Path: file, 'Samples-Out': '0' });
  });
});
