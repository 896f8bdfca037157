import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { eventually } from '../../support/eventually.ts';
import { expectTalk, referProgress } from '../expectations.ts';
import { OWN_CONFERENCES, TONES, useRooms } from './support.ts';

const refer = async (call: PhoneCall, to: string) =>
  (await call.request('REFER', [{ name: 'Refer-To', value: to }])).status;

describe('a REFER to the conference itself (RFC 4579)', () => {
  const { stage, rooms } = useRooms();

  it('invites a party; the referring participant stays and gets the progress', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*7061', TONES[0]);
    const conference = await rooms.only(1);
    expect(await refer(one, '<sip:102@demo.local>')).to.equal(202);
    const called = await bob.incoming();
    called.ring();
    await eventually(async () => expect(await rooms.participant(conference, '102')).to.include({ state: 'ringing' }));
    await called.answer();
    called.play(TONES[1]);
    expect(await referProgress(one)).to.deep.equal(['SIP/2.0 100 Trying', 'SIP/2.0 180 Ringing', 'SIP/2.0 200 OK']);
    await Promise.all([one.hears(TONES[1]), called.hears(TONES[0])]);
    expect(await rooms.participant(conference, '102')).to.include({ state: 'connected' });
    expect(one.established).to.equal(true);
  });

  it('reports a refused invitation, and an unknown number', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*7062');
    await rooms.only(1);
    expect(await refer(one, '<sip:102@demo.local>')).to.equal(202);
    (await bob.incoming()).reject(486);
    expect((await referProgress(one)).at(-1)).to.equal('SIP/2.0 486 Busy Here');
    expect(await refer(one, '<sip:999@demo.local>')).to.equal(202);
    expect((await referProgress(one)).at(-1)).to.equal('SIP/2.0 404 Not Found');
    expect(await refer(one, '<sip:102@elsewhere.example>')).to.equal(202);
    expect((await referProgress(one)).at(-1)).to.equal('SIP/2.0 404 Not Found');
    expect(bob.waitingCalls).to.equal(0);
    expect(await refer(one, 'nonsense')).to.equal(400);
    expect(await refer(one, '<sip:102@demo.local;method=MESSAGE>')).to.equal(501);
    expect(one.established).to.equal(true);
  });

  it('with Replaces brings in the other party of a second call, which ends', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*7063', TONES[0]);
    const other = await rooms.enter(carol, '*7063', TONES[2]);
    await rooms.only(2);
    await one.hold();
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const target = `<sip:102@demo.local?Replaces=${encodeURIComponent(outgoing.replaces)}>`;
    expect(await refer(one, target)).to.equal(202);
    expect((await referProgress(one)).at(-1)).to.equal('SIP/2.0 200 OK');
    await outgoing.ended();
    await one.unhold();
    incoming.play(TONES[1]);
    await Promise.all([other.hears(TONES[1]), one.hears(TONES[1]), incoming.hears(TONES[2])]);
    await rooms.only(3);
  });

  it('with Replaces of a foreign or unknown call is refused, and changes nothing', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*7064');
    const { outgoing, incoming } = await stage.connect(carol, bob, '102');
    const own = await stage.connect(await stage.phone('alice'), await stage.phone('dave'), '104');
    for (const replaces of [outgoing.replaces, `${own.outgoing.replaces}x`, 'nobody;to-tag=1;from-tag=2']) {
      expect(await refer(one, `<sip:102@demo.local?Replaces=${encodeURIComponent(replaces)}>`)).to.equal(481);
    }
    await expectTalk(outgoing, incoming);
  });

  it('with method=BYE removes a participant', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const one = await rooms.enter(alice, '*7065');
    const other = await rooms.enter(bob, '*7065');
    await rooms.only(2);
    for (const nobody of ['104@demo.local', '102@elsewhere.example']) {
      expect(await refer(one, `<sip:${nobody};method=BYE>`)).to.equal(404);
    }
    expect(await refer(one, '<sip:102@demo.local;method=BYE>')).to.equal(202);
    expect(await referProgress(one)).to.deep.equal(['SIP/2.0 200 OK']);
    expect((await other.ended()).by).to.equal('there');
    await rooms.only(1);
  });
});

describe('INVITE with Replaces that names the call of a participant (RFC 3891)', () => {
  const { stage, rooms } = useRooms();

  it("takes the participant's place: the others hear the new phone, and the replaced one is released", async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*7066', TONES[0]);
    const other = await rooms.enter(bob, '*7066', TONES[1]);
    const { confid } = await rooms.only(2);
    const taking = await carol.call('*7066', { headers: [{ name: 'Replaces', value: one.replaces }] });
    await taking.answered();
    taking.play(TONES[2]);
    expect((await one.ended()).by).to.equal('there');
    await Promise.all([other.hears(TONES[2]), taking.hears(TONES[1])]);
    const conference = await rooms.only(2);
    expect(conference.confid).to.equal(confid);
    expect((await rooms.participants(conference)).map(({ ruri }) => ruri)).to.have.members([
      '<sip:bob@demo.local>',
      '<sip:103@demo.local>',
    ]);
    expect(await rooms.list('alice', OWN_CONFERENCES)).to.deep.equal([]);
  });

  it('keeps the room when the last participant is replaced', async () => {
    const [alice, carol] = await stage.phones('alice', 'carol');
    const one = await rooms.enter(alice, '*7067');
    const { confid } = await rooms.only(1);
    const replacing = (value: string) => carol.call('*7067', { headers: [{ name: 'Replaces', value }] });
    const [callId = '', toTag = '', fromTag = ''] = one.replaces.split(/;(?:to|from)-tag=/);
    for (const wrong of [`${callId};to-tag=${fromTag};from-tag=${toTag}`, `${one.replaces}x`]) {
      expect((await (await replacing(wrong)).ended()).status, wrong).to.equal(481);
    }
    expect(one.established).to.equal(true);
    const taking = await replacing(one.replaces);
    await taking.answered();
    await one.ended();
    expect((await rooms.only(1)).confid).to.equal(confid);
  });
});

describe('the Contact of a conference (RFC 4579)', () => {
  const { stage, rooms } = useRooms();

  for (const transport of ['udp', 'tcp'] as const) {
    it(`has isfocus for incoming and outgoing participants over ${transport}`, async () => {
      const alice = await stage.phone('alice', { transport });
      const bob = await stage.phone('bob', { transport });
      const one = await alice.call('*7068');
      expect(await one.answerHeader('contact')).to.match(/^<sip:\*7068@127\.0\.0\.1.*>;isfocus$/);
      const { confid } = await rooms.only(1);
      await rooms.ask('POST', `/${confid}/participants`, { to: '102' });
      const called = await bob.incoming();
      expect(called.header('contact')).to.match(/^<sip:\*7068@127\.0\.0\.1.*>;isfocus$/);
      await called.answer();
      await rooms.only(2);
      await one.hold();
      await called.hangup();
      await one.hangup();
    });
  }
});
