import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const ALICE = '<sip:101@demo.local>';

/** RFC 3892: the target of a transfer learns its initiator. */
describe('Referred-By', () => {
  const stage = useStage();

  async function talking() {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    return { alice, bob, carol, outgoing, incoming };
  }

  const consulted = (number: string, replaces: string) => [
    { name: 'Refer-To', value: `<sip:${number}@demo.local?Replaces=${encodeURIComponent(replaces)}>` },
  ];

  for (const [what, given, passed] of [
    ['none of its own', undefined, ALICE],
    ['one of its own', '"Alice at home" <sip:alice@demo.local>;ref=7', '"Alice at home" <sip:alice@demo.local>;ref=7'],
    ['a token that is left behind', '<sip:alice@demo.local>;cid="1@192.0.2.1"', '<sip:alice@demo.local>'],
    ['several', '<sip:alice@demo.local>, <sip:bob@demo.local>', ALICE],
    ['no address', 'nobody', ALICE],
  ] as const) {
    it(`is in the INVITE to the target and in opts after a REFER with ${what}`, async () => {
      const { carol, outgoing, incoming } = await talking();
      const own = given === undefined ? [] : [{ name: 'Referred-By', value: given }];
      const headers = [{ name: 'Refer-To', value: '<sip:103@demo.local>' }, ...own];
      expect((await outgoing.request('REFER', headers)).status).to.equal(202);
      const arriving = await carol.incoming();
      expect(arriving.header('Referred-By')).to.equal(passed);
      await arriving.answer();
      await expectTalk(incoming, arriving);
      expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': passed });
    });
  }

  it('is in opts after an attended transfer by a phone', async () => {
    const { alice, carol, outgoing, incoming } = await talking();
    await outgoing.hold();
    const second = await stage.connect(alice, carol, '103');
    expect((await outgoing.request('REFER', consulted('103', second.outgoing.replaces))).status).to.equal(202);
    await second.outgoing.ended();
    await expectTalk(incoming, second.incoming);
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': ALICE });
  });

  it('names the initiator of REFER, also in a forking dialog, and is absent when the initiator is called back', async () => {
    const { alice, carol, incoming } = await talking();
    const { dialogid } = await stage.dialog();
    const rest = await stage.rest();
    const refer = async (hold_initiator: boolean, id: string) =>
      rest.send('REFER', `${CALLS}/${id}`, {
        body: { by: '<sip:alice@demo.local>', referto: '103', hold_initiator },
      });
    const failing = refer(false, dialogid);
    (await carol.incoming()).reject(486);
    const back = await alice.incoming();
    expect(back.header('Referred-By')).to.equal(undefined);
    await back.answer();
    await failing;
    await expectTalk(incoming, back);
    const asked = refer(true, (await stage.dialog()).dialogid);
    const arriving = await carol.incoming();
    expect(arriving.header('Referred-By')).to.equal(ALICE);
    arriving.ring();
    await asked;
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': ALICE });
    await arriving.answer();
    await expectTalk(incoming, arriving);
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': ALICE });
  });

  it('names the initiator of REFERREPLACES and REFERCONF in opts', async () => {
    const { alice, carol, outgoing, incoming } = await talking();
    const master = await stage.dialog();
    await outgoing.hold();
    await stage.connect(alice, carol, '103');
    const slave = (await stage.dialogs()).find(({ dialogid }) => dialogid !== master.dialogid)?.dialogid;
    const rest = await stage.rest();
    const by = '<sip:alice@demo.local>';
    const body = { masterby: by, slavedialogid: slave, slaveby: by };
    expect((await rest.send('REFERREPLACES', `${CALLS}/${master.dialogid}`, { body })).status).to.equal(200);
    const joined = await stage.dialog();
    expect(joined.opts).to.deep.equal({ 'referred-by': ALICE });
    const room = await alice.call('*70781');
    await room.answered();
    const entered = await rest.send('REFERCONF', `${CALLS}/${joined.dialogid}`, {
      body: { by: '<sip:carol@demo.local>', referconfnumber: '*70781', response_mode: 5 },
    });
    expect(entered.json(), entered.text).to.include({ result: 'ok' });
    await expectTalk(incoming, room);
    const id = entered.json<{ new_dialogid: string }>().new_dialogid;
    expect((await stage.dialogs()).find(({ dialogid }) => dialogid === id)?.opts).to.deep.equal({
      'referred-by': '<sip:103@demo.local>',
    });
  });

  it('of an INVITE is in opts, with and without Replaces', async () => {
    const { carol, outgoing, incoming } = await talking();
    const referred = { name: 'Referred-By', value: '<sip:dave@demo.local>' };
    const calling = await carol.call('101', {
      headers: [referred, { name: 'Replaces', value: incoming.replaces }],
    });
    await calling.answered();
    await expectTalk(outgoing, calling);
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': referred.value, replaces: incoming.replaces });
    await calling.hangup();
    await outgoing.ended();
    const dave = await stage.phone('dave');
    const plain = await carol.call('104', { headers: [referred] });
    const arriving = await dave.incoming();
    expect(arriving.header('Referred-By')).to.equal(referred.value);
    expect((await stage.dialog()).opts).to.deep.equal({ 'referred-by': referred.value });
    arriving.reject(486);
    await plain.ended();
  });

  it('names the participant whose conference calls a party, or who brings one in', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const room = await alice.call('*7082');
    await room.answered();
    expect((await room.request('REFER', [{ name: 'Refer-To', value: '<sip:103@demo.local>' }])).status).to.equal(202);
    const invited = await carol.incoming();
    expect(invited.header('Referred-By')).to.equal(ALICE);
    await invited.answer();
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect((await room.request('REFER', consulted('102', outgoing.replaces))).status).to.equal(202);
    await outgoing.ended();
    await expectTalk(incoming, invited);
    const brought = (await stage.dialogs()).find(({ uris }) => uris.includes('<sip:bob@demo.local>'));
    expect(brought?.opts).to.deep.equal({ 'referred-by': ALICE });
  });
});
