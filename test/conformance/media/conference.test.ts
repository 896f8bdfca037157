import { expect } from 'chai';
import { Moment } from '../../phones/wait.ts';
import { eventually } from '../../support/eventually.ts';
import { text } from '../support/fsmrf.ts';
import { type Connected, fallsSilent, useMediaStage } from '../support/media-stage.ts';

/** Tones of the members, far enough apart to be recognised in a mix. */
const TONES = [440, 700, 1100] as const;

type Member = Connected & { readonly tone: number };

describe('Conformance, media server: conferences', () => {
  const stage = useMediaStage();
  let rooms = 0;

  const join = async (room: string, tone: number): Promise<Member> => {
    const member = await stage.connect();
    await member.endpoint.join(room);
    member.call.play(tone);
    return { ...member, tone };
  };
  const newRoom = (): string => {
    rooms += 1;
    return `conf-${process.pid}-${rooms}`;
  };
  const pair = async (): Promise<{ room: string; a: Member; b: Member; all: Member[] }> => {
    const room = newRoom();
    const [a, b] = [await join(room, TONES[0]), await join(room, TONES[1])];
    return { room, a, b, all: [a, b] };
  };
  const three = async () => {
    const { room, a, b } = await pair();
    const c = await join(room, TONES[2]);
    return { room, a, b, c, all: [a, b, c] };
  };
  const command = async (room: string, rest: string): Promise<string> => stage.media.api(`conference ${room} ${rest}`);

  it('members hear the others, but not themselves', async () => {
    const { all } = await three();
    for (const member of all) {
      for (const other of all) {
        if (other !== member) await member.call.hears(other.tone);
      }
      await member.call.hearsNot(member.tone, { forMs: 250 });
    }
  });

  it('members and conferences have ids, counts and lists', async () => {
    const { room, a, b, all } = await pair();
    expect(a.endpoint.conf.memberId).to.be.a('number');
    expect(a.endpoint.conf.memberId).not.to.equal(b.endpoint.conf.memberId);
    expect(a.endpoint.conf.uuid).to.equal(b.endpoint.conf.uuid);
    expect((await command(room, 'list count')).trim()).to.equal('2');
    const lines = (await command(room, 'list')).trim().split('\n');
    expect(lines).to.have.length(2);
    for (const line of lines) {
      const fields = line.split(';');
      expect(all.map(({ endpoint }) => String(endpoint.conf.memberId))).to.include(fields[0]);
      expect(all.map(({ endpoint }) => endpoint.uuid)).to.include(fields[2]);
      expect(fields[5]?.split('|')).to.include.members(['hear', 'speak']);
    }
  });

  it('a command to an unknown conference is an error', async () => {
    expect(await command('conf-none', 'list count')).to.equal('-ERR Conference conf-none not found\n');
  });

  it('mute and unmute a member', async () => {
    const { a, b } = await pair();
    await b.call.hears(TONES[0]);
    expect(await a.endpoint.confMute()).to.match(/^\+?OK mute/);
    await fallsSilent(b.call, TONES[0]);
    await a.endpoint.confUnmute();
    await b.call.hears(TONES[0]);
  });

  it('deaf stops a member from hearing', async () => {
    const { a, b } = await pair();
    await a.call.hears(TONES[1]);
    await a.endpoint.confDeaf();
    await fallsSilent(a.call, TONES[1]);
    await b.call.hears(TONES[0]);
    await a.endpoint.confUndeaf();
    await a.call.hears(TONES[1]);
  });

  it('relate separates a single pair', async () => {
    const { room, a, b, c } = await three();
    await a.call.hears(TONES[1]);
    const [idA, idB] = [a.endpoint.conf.memberId, b.endpoint.conf.memberId];
    expect(await command(room, `relate ${idA} ${idB} nohear`)).to.match(/\+?OK|relationship/);
    await fallsSilent(a.call, TONES[1]);
    await Promise.all([a.call.hears(TONES[2]), c.call.hears(TONES[1]), b.call.hears(TONES[0])]);
    await command(room, `relate ${idA} ${idB} clear`);
    await a.call.hears(TONES[1]);
  });

  it('play is heard by all members', async () => {
    const { room, all } = await pair();
    expect(await command(room, 'play tone_stream://%(1500,0,1900)')).to.match(/Playing file/);
    await Promise.all(all.map(({ call }) => call.hears(1900)));
  });

  it('a kicked member survives without the others', async () => {
    const { room, a, b } = await pair();
    await a.call.hears(TONES[1]);
    await a.endpoint.confKick();
    await fallsSilent(a.call, TONES[1]);
    expect(a.endpoint.connected).to.equal(true);
    expect((await command(room, 'list count')).trim()).to.equal('1');
    const played = a.endpoint.play('tone_stream://%(300,0,1900)');
    await a.call.hears(1900);
    await played;
    expect(b.endpoint.connected).to.equal(true);
  });

  it('a conference ends for all when a member with endconf leaves', async () => {
    const room = newRoom();
    const [host, guest] = [await stage.connect(), await stage.connect()];
    await guest.endpoint.join(room);
    await host.endpoint.join(room, { flags: { endconf: true } });
    const ended = new Moment<true>('end of the conference');
    guest.endpoint.on('destroy', () => ended.reach(true));
    await host.endpoint.destroy();
    await ended.wait(3000);
    expect(await command(room, 'list count')).to.equal(`-ERR Conference ${room} not found\n`);
  });

  it('members hear no one until a moderator joins', async () => {
    const room = newRoom();
    const [one, other, host] = [await stage.connect(), await stage.connect(), await stage.connect()];
    for (const { endpoint } of [one, other]) await endpoint.join(room, { flags: { waitMod: true } });
    one.call.play(TONES[0]);
    await other.call.hearsNot(TONES[0], { forMs: 300 });
    await host.endpoint.join(room, { flags: { moderator: true } });
    await Promise.all([other, host].map(({ call }) => call.hears(TONES[0])));
    expect(await command(room, 'list')).to.match(/\|moderator/);
  });

  it('hup all removes all members, and their channels survive', async () => {
    const { room, all } = await pair();
    expect((await command(room, 'hup all')).trim().split('\n')).to.have.members(
      all.map(({ endpoint }) => `+OK hup ${endpoint.conf.memberId}`),
    );
    await eventually(async () =>
      expect(await command(room, 'list count')).to.equal(`-ERR Conference ${room} not found\n`),
    );
    for (const { endpoint } of all) expect(text(await endpoint.api('uuid_exists', endpoint.uuid))).to.equal('true');
  });
});
