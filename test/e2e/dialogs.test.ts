import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectWellFormed, FIELDS, type Dialog } from '../support/dialog.ts';
import { parseNameAddr } from '../phones/sip/address.ts';
import { expectError } from './expectations.ts';

describe('GET of dialogs', () => {
  const stage = useStage();

  it('shows a ringing call as forking and an answered one as dialog, with the fields of the specification', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const before = Date.now();
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    const invited = Date.now();
    incoming.ring();
    await outgoing.ringing();
    const ringing = await stage.dialog();
    expectWellFormed(ringing);
    expect(ringing.status).to.equal('forking');
    expect(ringing.startts).to.be.within(before, invited);
    const bLeg = ringing.legs.find((leg) => leg.side === 'b');
    expect(bLeg?.expirets, 'time limit of the called party').to.be.a('number').above(invited);

    await incoming.answer();
    await outgoing.answered();
    const talking = await stage.dialog();
    expectWellFormed(talking);
    const { status, legs, ...same } = talking;
    expect(status).to.equal('dialog');
    expect(ringing).to.deep.include(same);
    expect(talking).to.deep.include({
      acallid: outgoing.callId,
      localuri: '<sip:102@demo.local>',
      remoteuri: '<sip:alice@demo.local>',
      opts: {},
    });
    expect(talking.callids).to.have.members([outgoing.callId, incoming.callId]);
    expect(talking.uris).to.have.members(
      ['alice', '101', 'bob', '102'].map((username) => `<sip:${username}@demo.local>`),
    );
    // The B leg names the From and To of the INVITE that the called phone got.
    const sent = (name: string): string => `<${parseNameAddr(incoming.header(name) ?? '').uri}>`;
    expect(legs.find((leg) => leg.side === 'b')).to.deep.include({
      callid: incoming.callId,
      localuri: sent('From'),
      remoteuri: sent('To'),
    });
  });

  it('shows no time limit for an immediately connected party: a conference or a taken over party', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const limits = async () => (await stage.dialog()).legs.map(({ side, expirets }) => [side, expirets]);
    const none = [
      ['a', 'undefined'],
      ['b', 'undefined'],
    ];
    const room = await alice.call('*7091');
    await room.answered();
    expect(await limits()).to.deep.equal(none);
    await room.hangup();
    await stage.expectNoDialog();
    const { outgoing } = await stage.connect(alice, bob, '102');
    const taking = await carol.call('102', { headers: [{ name: 'Replaces', value: outgoing.replaces }] });
    await taking.answered();
    await outgoing.ended();
    expect(await limits()).to.deep.equal(none);
  });

  it('names the called party by login when it was called by login', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await stage.connect(alice, bob, 'bob');
    expect(await stage.dialog()).to.include({ localuri: '<sip:bob@demo.local>' });
  });

  it('gives each call its own ids', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    await stage.connect(alice, bob, '102');
    await stage.connect(carol, dave, '104');
    const dialogs = await stage.dialogs();
    expect(dialogs).to.have.length(2);
    for (const name of ['dialogid', 'inviteid', 'acallid'] as const) {
      expect(new Set(dialogs.map((dialog) => dialog[name])).size, name).to.equal(2);
    }
  });

  it('shows Referred-By of the INVITE', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102', { headers: [{ name: 'Referred-By', value: '<sip:carol@demo.local>' }] });
    (await bob.incoming()).ring();
    await call.ringing();
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': '<sip:carol@demo.local>' });
  });

  it('answers the fields named by mask, and ignores unknown names', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await stage.connect(alice, bob, '102');
    const rest = await stage.rest();
    const { dialogid } = await stage.dialog();
    const masked = await rest.get(CALLS, { mask: 'dialogid,status,password' });
    expect(masked.json()).to.deep.equal([{ dialogid, status: 'dialog' }]);
    const read = await rest.get(`${CALLS}/${dialogid}`, { mask: 'startts,site' });
    expect(Object.keys(read.json<object>())).to.have.members(['startts', 'site']);
    const whole = (await rest.get(`${CALLS}/${dialogid}`)).json<Dialog>();
    expect(Object.keys(whole)).to.have.members(FIELDS);
    expect(whole).to.deep.equal(await stage.dialog());
  });

  it('counts, pages and orders the list', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    await stage.connect(alice, bob, '102');
    await stage.connect(carol, dave, '104');
    const rest = await stage.rest();
    expect((await rest.get(CALLS, { countonly: true })).json()).to.deep.equal({ count: 2 });
    expect((await rest.get(CALLS, { limit: 0 })).json()).to.deep.equal({ count: 2 });
    const uris = async (query: Record<string, string | number>): Promise<string[]> =>
      (await rest.get(CALLS, { mask: 'localuri', ...query }))
        .json<{ localuri: string }[]>()
        .map(({ localuri }) => localuri);
    const order = JSON.stringify([{ localuri: 'desc' }]);
    expect(await uris({ order })).to.deep.equal(['<sip:104@demo.local>', '<sip:102@demo.local>']);
    expect(await uris({ order, offset: 1, limit: 5 })).to.deep.equal(['<sip:102@demo.local>']);
  });

  it('answers an empty list without calls', async () => {
    expect(await stage.dialogs()).to.deep.equal([]);
  });

  it('answers 404 with 1413 for an unknown dialog', async () => {
    const rest = await stage.rest();
    const error = expectError(await rest.get(`${CALLS}/no-such-dialog`), 404, 1413);
    expect(error.error_message).to.equal('Dialog not found');
  });
});
