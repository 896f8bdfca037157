import { expect } from 'chai';
import { expectWellFormed } from '../../support/dialog.ts';
import { eventually } from '../../support/eventually.ts';
import { type Participant, TONES, useRooms } from './support.ts';

describe('conference rooms of a featurecode', () => {
  const { stage, rooms } = useRooms();

  it('*70<digits> enters that room: participants hear the others, but not themselves', async () => {
    const phones = await stage.phones('alice', 'bob', 'carol');
    const calls = [];
    for (const [index, phone] of phones.entries()) calls.push(await rooms.enter(phone, '*701', TONES[index]));
    for (const [me, call] of calls.entries()) {
      for (const [other, tone] of TONES.slice(0, 3).entries()) if (other !== me) await call.hears(tone);
      await call.hearsNot(TONES[me] ?? 0, { forMs: 250 });
    }
    const conference = await rooms.only(3);
    expect(conference).to.have.all.keys('confid', 'confroomnum', 'confnumber', 'uri', 'site', 'startts', 'uris');
    expect(conference).to.include({ confroomnum: '1', uri: '<sip:*701@demo.local>' });
    expect(conference.confnumber).to.match(/^[0-9a-f]+$/);
    expect(conference.confid).to.contain(conference.confnumber);
    expect(conference.startts).to.be.within(Date.now() - 60_000, Date.now());
    expect(conference.uris).to.have.members(
      ['alice', '101', 'bob', '102', 'carol', '103'].map((user) => `<sip:${user}@demo.local>`),
    );
  });

  it('*70 alone creates a new room, which others can dial', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await rooms.enter(alice, '*70');
    const first = await rooms.only(1);
    expect(first.confroomnum).to.match(/^\d+$/);
    expect(first.uri).to.equal(`<sip:*70${first.confroomnum}@demo.local>`);
    const one = await rooms.enter(bob, `*70${first.confroomnum}`, TONES[0]);
    await rooms.enter(carol, '*70');
    const all = await rooms.list();
    expect(all.map(({ confid }) => confid)[0]).to.equal(first.confid);
    expect(new Set(all.map(({ confroomnum }) => confroomnum)).size).to.equal(2);
    expect(one.established).to.equal(true);
  });

  it('the call of a participant is a dialog with the conference as the other side', async () => {
    const [alice] = await stage.phones('alice');
    await rooms.enter(alice, '*702');
    const conference = await rooms.only(1);
    const [participant] = await rooms.participants(conference);
    const dialog = await stage.dialog();
    expectWellFormed(dialog);
    expect(dialog).to.include({ status: 'dialog', localuri: '<sip:*702@demo.local>' });
    expect(dialog.uris).to.have.members(['<sip:alice@demo.local>', '<sip:101@demo.local>', conference.uri]);
    expect(dialog.legs[1]).to.include({ side: 'b', remoteuri: conference.uri, callid: participant?.callid });
    expect(participant).to.include({ state: 'connected', luri: conference.uri, ruri: dialog.remoteuri });
    expect(participant?.ltag).to.be.a('string').and.not.equal('').and.not.equal(participant?.rtag);
    // Only a mask asks for more than the specification lists.
    const [listed] = (await rooms.ask('GET', `/${conference.confid}/participants`)).json<object[]>();
    const { moderator: _, talking: __, ...specified } = participant as Participant;
    expect(listed).to.deep.equal(specified);
  });

  it('a holding participant is shown as hold, and its music is not heard by the others', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*703', TONES[0]);
    const other = await rooms.enter(bob, '*703', TONES[1]);
    await other.hears(TONES[0]);
    const conference = await rooms.only(2);
    await one.hold();
    await eventually(async () => expect((await rooms.participant(conference, 'alice')).state).to.equal('hold'));
    await eventually(async () => other.hearsNot(TONES[0], { forMs: 300 }));
    await one.unhold();
    await Promise.all([other.hears(TONES[0]), one.hears(TONES[1])]);
    await eventually(async () => expect((await rooms.participant(conference, 'alice')).state).to.equal('connected'));
  });

  it('a room ends with its last participant, and its number is free again', async () => {
    const [alice] = await stage.phones('alice');
    const call = await rooms.enter(alice, '*704');
    const { confid } = await rooms.only(1);
    await call.hangup();
    await rooms.expectNothing();
    await rooms.enter(alice, '*704');
    expect((await rooms.only(1)).confid).not.to.equal(confid);
  });

  it('a blind transfer by a phone brings its peer into a room', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const waiting = await rooms.enter(carol, '*705', TONES[2]);
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    incoming.play(TONES[1]);
    const accepted = await outgoing.request('REFER', [
      { name: 'Refer-To', value: '<sip:*705@demo.local>' },
      { name: 'Referred-By', value: '<sip:alice@demo.local>' },
    ]);
    expect(accepted.status).to.equal(202);
    await outgoing.ended();
    await Promise.all([incoming.hears(TONES[2]), waiting.hears(TONES[1])]);
    expect((await rooms.participants(await rooms.only(2))).map(({ ruri }) => ruri)).to.include('<sip:102@demo.local>');
  });

  it('an attended transfer into a room releases both calls of the transferring phone', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const waiting = await rooms.enter(carol, '*707', TONES[2]);
    const own = await rooms.enter(alice, '*707');
    await own.hold();
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    incoming.play(TONES[1]);
    const accepted = await outgoing.request('REFER', [
      { name: 'Refer-To', value: `<sip:*707@demo.local?Replaces=${encodeURIComponent(own.replaces)}>` },
      { name: 'Referred-By', value: '<sip:alice@demo.local>' },
    ]);
    expect(accepted.status).to.equal(202);
    await Promise.all([outgoing.ended(), own.ended()]);
    await Promise.all([incoming.hears(TONES[2]), waiting.hears(TONES[1])]);
    expect((await rooms.participants(await rooms.only(2))).map(({ ruri }) => ruri)).to.have.members([
      '<sip:carol@demo.local>',
      '<sip:102@demo.local>',
    ]);
  });

  it('REFER and INVITE over REST reach a room', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const asked = stage.operate('POST', { from: '103', to: '*706', response_mode: 4 });
    const called = await carol.incoming();
    await called.answer();
    expect((await asked).json()).to.include({ result: 'ok', last_response: 'SIP/2.0 200 OK' });
    called.play(TONES[2]);
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const moved = await (await stage.rest()).send('REFER', '/rest/v1/uc/calls', {
      body: { from: '101', by: '<sip:alice@demo.local>', referto: '*706', response_mode: 4 },
    });
    expect(moved.json(), moved.text).to.include({ result: 'ok' });
    await outgoing.ended();
    incoming.play(TONES[1]);
    await Promise.all([incoming.hears(TONES[2]), called.hears(TONES[1])]);
  });

  for (const codec of ['PCMU', 'PCMA', 'G722', 'OPUS'] as const) {
    it(`a phone with ${codec} that is called into a room hears the others at their pitch, and is heard at its own`, async () => {
      const wide = codec === 'G722' || codec === 'OPUS';
      const dave = await stage.phone('dave', { codecs: ['OPUS'] });
      const bob = await stage.phone('bob', { codecs: [codec] });
      const there = await rooms.enter(dave, '*708', wide ? 6000 : 600);
      // Right by chance at times, when the media server is late.
      for (let call = 1; call <= 3; call++) {
        await stage.operate('POST', { from: '102', to: '*708', response_mode: 0 });
        const called = await bob.incoming();
        called.ring();
        await called.answer();
        called.play(wide ? 5000 : 900);
        await called.hears(wide ? 6000 : 600);
        await there.hears(wide ? 5000 : 900);
        await called.hangup();
        expect(bob.violations).to.deep.equal([]);
      }
    });
  }
});
