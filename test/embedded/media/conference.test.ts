import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readWav } from '../../../runtime/embedded/media/audio/wav.ts';
import { type Bench, type Conference, type Endpoint, type EslReply, startBench } from './support/fixture.ts';
import { amplitude, RtpPhone, streamFaults, until } from './support/rtp-phone.ts';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('embedded media server: conferences', () => {
  let bench: Bench;
  const phones: RtpPhone[] = [];
  const endpoints: Endpoint[] = [];

  before(async () => {
    bench = await startBench();
  });
  after(() => bench.close());
  afterEach(async () => {
    for (const endpoint of endpoints.splice(0))
      if (endpoint.connected) await bench.ms.api(`uuid_kill ${endpoint.uuid}`);
    for (const phone of phones.splice(0)) await phone.close();
    await bench.settled();
  });

  async function party(frequency: number): Promise<{ phone: RtpPhone; endpoint: Endpoint }> {
    const phone = await RtpPhone.open();
    phones.push(phone);
    const endpoint = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
    endpoints.push(endpoint);
    phone.talk(endpoint.local.sdp, frequency);
    return { phone, endpoint };
  }

  async function create(name: string, options: Record<string, unknown> = {}): Promise<Conference> {
    const { log } = console; // drachtio-fsmrf tells about every conference
    Object.assign(console, { log: () => undefined });
    try {
      const conference = await bench.ms.createConference(name, options);
      endpoints.push(conference.endpoint);
      return conference;
    } finally {
      Object.assign(console, { log });
    }
  }

  async function command(text: string): Promise<string> {
    return await bench.ms.api(`conference ${text}`);
  }

  it('members hear the others but not themselves, and relate separates each pair', async () => {
    const [one, two, three] = [await party(500), await party(800), await party(1100)] as const;
    const ids: number[] = [];
    for (const { endpoint } of [one, two, three]) ids.push((await endpoint.join('mix')).memberId);
    const [a, b, c] = ids;
    await pause(200);
    const heard = async (phone: RtpPhone): Promise<boolean[]> => {
      await pause(120);
      const since = performance.now();
      await pause(200);
      return [500, 800, 1100].map((frequency) => phone.level(frequency, since) > 3000);
    };
    expect(await heard(one.phone)).to.deep.equal([false, true, true]);
    expect(await heard(two.phone)).to.deep.equal([true, false, true]);
    expect(streamFaults(one.phone.audio())).to.deep.equal([]);
    expect(await command(`mix relate ${a} ${b} nospeak`)).to.equal(`+OK ${a}->${b} nospeak set\n`);
    expect(await heard(two.phone)).to.deep.equal([false, false, true]);
    expect(await heard(three.phone)).to.deep.equal([true, true, false]);
    expect(await command(`mix relate ${c} ${b} nohear`)).to.match(/^\+OK/);
    expect(await heard(three.phone)).to.deep.equal([true, false, false]);
    await command(`mix relate ${a} ${b} clear`);
    expect(await heard(two.phone)).to.deep.equal([true, false, true]);
  });

  it('creates, counts, lists, and reports members and talkers like the real server', async () => {
    expect(await command('room1 list count')).to.equal('-ERR Conference room1 not found\n');
    const conference = await create('room1', { maxMembers: 5 });
    const actions: string[] = [];
    for (const name of ['addMember', 'startTalking', 'muteMember', 'unmuteMember', 'kickMember', 'delMember', 'lock']) {
      conference.on(name, (event: EslReply) =>
        actions.push(`${event.getHeader('Action')} ${event.getHeader('Member-ID')}`),
      );
    }
    const { endpoint } = await party(600);
    const { memberId, confUuid } = await endpoint.join(conference);
    expect(confUuid).to.equal(conference.uuid);
    await until(() => actions.includes(`start-talking ${memberId}`));
    expect(await conference.getSize()).to.equal(2);
    const list = (await conference.list()).getBody().split('\n');
    expect(list[0]).to.match(
      new RegExp(
        `^${memberId};sofia/drachtio_mrf/[^;]+;${endpoint.uuid};[^;]*;;hear\\|speak\\|talking\\|floor;0;0;100$`,
      ),
    );
    expect(list[1]).to.match(new RegExp(`^${conference.memberId};.*;hear;0;0;100$`));
    expect(await endpoint.confMute()).to.equal(`+OK mute ${memberId}\n`);
    expect(await endpoint.confUnmute()).to.equal(`+OK unmute ${memberId}\n`);
    await until(() => actions.filter((action) => action === `start-talking ${memberId}`).length === 2);
    expect(await command('room1 get max_members')).to.equal('5');
    expect(await command('room1 set max_members 9')).to.equal('5');
    expect(await command('room1 lock')).to.equal('+OK room1 locked\n');
    expect(await endpoint.confKick()).to.equal(`+OK kicked ${memberId}\n`);
    await until(() => actions.includes(`del-member ${memberId}`));
    expect(actions).to.deep.equal([
      `add-member ${memberId}`,
      `start-talking ${memberId}`,
      `mute-member ${memberId}`,
      `unmute-member ${memberId}`,
      `start-talking ${memberId}`,
      'lock null',
      `kick-member ${memberId}`,
      `del-member ${memberId}`,
    ]);
    expect(endpoint.connected).to.equal(true);
    await endpoint.play('tone_stream://%(100,0,440)');
  });

  it('plays to all members and to one, and records', async () => {
    const conference = await create('sounds');
    const [one, two] = [await party(0), await party(700)] as const;
    await one.endpoint.join(conference);
    await two.endpoint.join(conference);
    expect(await command('sounds play nothing.wav')).to.equal('-ERR (play) File: nothing.wav not found.\n');
    expect(await command('sounds recording start room.wav')).to.equal('+OK Record file room.wav\n');
    const since = performance.now();
    await conference.play('tone_stream://%(300,0,1300)');
    expect(one.phone.level(1300, since)).to.be.above(2000);
    expect(two.phone.level(1300, since)).to.be.above(2000);
    const later = performance.now();
    await one.endpoint.confPlay('tone_stream://%(300,0,1700)');
    await pause(400);
    expect(one.phone.level(1700, later)).to.be.above(2000);
    expect(two.phone.level(1700, later)).to.be.below(200);
    // The file is complete when the event comes, not with the answer.
    const complete = once(conference, 'stopRecording');
    expect(await command('sounds recording stop room.wav')).to.equal(
      'Stopped recording file room.wav\n+OK Stopped recording 0 files\n',
    );
    await complete;
    const samples = readWav(await readFile(join(bench.directory, 'room.wav')));
    expect(amplitude(samples, 700)).to.be.above(5000);
    expect(amplitude(samples.subarray(0, 3200), 1300)).to.be.above(3000);
  });

  it('members wait with music until a moderator joins', async () => {
    const [one, two] = [await party(500), await party(900)] as const;
    await one.endpoint.join('wait', { profile: 'waitmod' });
    await pause(300);
    expect(Math.max(...one.phone.samples())).to.be.above(1000); // music
    await two.endpoint.join('wait', { profile: 'waitmod', flags: { moderator: true, endconf: true } });
    await pause(200);
    const since = performance.now();
    await pause(200);
    expect(one.phone.level(900, since)).to.be.above(3000);
    const ended = new Promise((resolve) => one.endpoint.once('destroy', resolve));
    await two.endpoint.destroy();
    await ended;
    expect(await command('wait list')).to.equal('-ERR Conference wait not found\n');
  });

  it('a member moves to another conference', async () => {
    const { endpoint } = await party(500);
    const { memberId } = await endpoint.join('here');
    expect(await endpoint.transfer('there')).to.equal(`+OK Member '${memberId}' sent to conference there.\n`);
    await pause(100);
    expect(await command('there list')).to.match(new RegExp(`^${memberId};.*${endpoint.uuid}`));
    expect(await command('here list')).to.equal('-ERR Conference here not found\n');
  });

  it('a receive-only control leg reads no commands, so destroy never settles; hup all ends it', async () => {
    const conference = await create('ends');
    let settled = false;
    const destroyed = conference.destroy().then(() => {
      settled = true;
    });
    await pause(300);
    expect(settled).to.equal(false);
    expect(await command('ends hup all')).to.equal(`+OK hup ${conference.memberId}\n`);
    await destroyed;
    expect(await command('list')).to.equal('+OK No active conferences.\n');
  });

  it('refuses members for a full or locked conference or a wrong pin', async () => {
    const [one, two] = [await party(0), await party(0)] as const;
    await one.endpoint.join('closed', { pin: '1234' });
    const enter = async (argument: string): Promise<void> => {
      await two.endpoint.execute('conference', argument);
    };
    await enter('closed+9999');
    await command('closed lock');
    await enter('closed+1234');
    await command('closed unlock');
    await command('closed set max_members 1');
    await enter('closed+1234');
    expect(await command('closed list count')).to.equal('1');
  });
});
