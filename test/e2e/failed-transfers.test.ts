import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError, expectTalk } from './expectations.ts';

const ALICE = '<sip:alice@demo.local>';

/** The initiator X and the transferred party Y after a refused transfer (docs/rest/operations.md). */
describe('a failed transfer over REST', () => {
  const stage = useStage();

  /** Alice talks to bob; carol is registered. */
  async function talking() {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const rest = await stage.rest();
    const refer = (more: object = {}) =>
      rest.send('REFER', `${CALLS}/${dialogid}`, { body: { by: ALICE, referto: '103', response_mode: 4, ...more } });
    return { alice, bob, carol, outgoing, incoming, dialogid, rest, refer };
  }

  it('returns the party to the held initiator in the same call, without a new call to the initiator', async () => {
    const { alice, carol, outgoing, incoming, dialogid, refer } = await talking();
    const asked = refer({ binding: 'tried' });
    const arriving = await carol.incoming();
    arriving.ring();
    await Promise.all([incoming.hears(425), outgoing.hearsSound()]);
    expect(outgoing.established).to.equal(true);
    arriving.reject(486);
    expect((await asked).json()).to.include({ result: 'rejected', new_last_response: 'SIP/2.0 486 Busy Here' });
    await expectTalk(outgoing, incoming);
    expect((await stage.dialog()).dialogid).to.equal(dialogid);
    expect(alice.waitingCalls).to.equal(0);
    expect([outgoing.session.remote?.direction, incoming.session.remote?.direction]).to.deep.equal([
      'sendrecv',
      'sendrecv',
    ]);
  });

  it('can be repeated by either side', async () => {
    const { carol, outgoing, incoming, refer } = await talking();
    for (const by of [ALICE, '<sip:bob@demo.local>', ALICE]) {
      const asked = refer({ by });
      (await carol.incoming()).reject(603);
      expect((await asked).json()).to.include({ result: 'rejected' });
      await expectTalk(outgoing, incoming);
    }
    const asked = refer({ by: '<sip:bob@demo.local>' });
    const arriving = await carol.incoming();
    await arriving.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    expect((await incoming.ended()).by).to.equal('there');
    await expectTalk(outgoing, arriving);
  });

  it('holds the initiator in silence when the hold melody is permanently stopped', async () => {
    const { carol, outgoing, incoming, dialogid, rest, refer } = await talking();
    await rest.send('STOP_HOLD_MELODY', `${CALLS}/${dialogid}`, { body: { mode: 'permanent' } });
    const asked = refer();
    const arriving = await carol.incoming();
    arriving.ring();
    await incoming.hears(425);
    const heard = await outgoing.hearsSound({ withinMs: 600 }).then(
      () => true,
      () => false,
    );
    expect(heard).to.equal(false);
    arriving.reject(486);
    await asked;
    await expectTalk(outgoing, incoming);
  });

  it('returns at once to the hold melody when a phone holds the call', async () => {
    const { carol, outgoing, incoming, refer } = await talking();
    await outgoing.hold();
    const asked = refer();
    const arriving = await carol.incoming();
    arriving.ring();
    await incoming.hears(425);
    arriving.reject(486);
    await asked;
    await incoming.hearsNot(425, { forMs: 200 });
    await incoming.hearsSound({ withinMs: 5000 });
    await outgoing.unhold();
    await expectTalk(outgoing, incoming);
  });

  it('calls back an initiator who has hung up meanwhile', async () => {
    const { alice, carol, outgoing, incoming, refer } = await talking();
    const asked = refer();
    const arriving = await carol.incoming();
    arriving.ring();
    await incoming.hears(425);
    await outgoing.hangup();
    arriving.reject(486);
    expect((await asked).json()).to.include({ result: 'rejected' });
    const back = await alice.incoming();
    await back.answer();
    await expectTalk(incoming, back);
  });

  it('with hold_initiator: false releases the initiator at once, and calls it back', async () => {
    const { alice, carol, outgoing, incoming, refer } = await talking();
    const asked = refer({ hold_initiator: false });
    const arriving = await carol.incoming();
    expect((await outgoing.ended()).by).to.equal('there');
    arriving.reject(486);
    expect((await asked).json()).to.include({ result: 'rejected' });
    const back = await alice.incoming();
    await back.answer();
    await expectTalk(incoming, back);
  });

  it('releases the held initiator when the party hangs up or DELETE ends the call', async () => {
    for (const how of ['BYE', 'DELETE'] as const) {
      const { carol, outgoing, incoming, rest, refer } = await talking();
      const asked = refer({ response_mode: 3 });
      const arriving = await carol.incoming();
      arriving.ring();
      const { new_dialogid: id } = (await asked).json<{ new_dialogid: string }>();
      if (how === 'BYE') await incoming.hangup();
      else expect((await rest.send('DELETE', `${CALLS}/${id}`)).status).to.equal(200);
      expect((await arriving.ended()).by).to.equal('cancelled');
      expect((await outgoing.ended()).by).to.equal('there');
      await incoming.ended();
      await stage.expectNoDialog();
    }
  });

  it("a transfer to the initiator's own number can be answered at another of its phones", async () => {
    const { alice, outgoing, incoming, refer } = await talking();
    const mobile = await stage.phone('alice');
    const asked = refer({ referto: '101' });
    const arriving = await mobile.incoming();
    const atDesk = await alice.incoming();
    await arriving.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await Promise.all([outgoing.ended(), atDesk.ended()]);
    await expectTalk(incoming, arriving);
  });

  it('REFERCONF into a full conference is 422 and leaves the call unchanged', async () => {
    const { alice, carol, outgoing, incoming, rest } = await talking();
    const code = { prefix: '*7401', type: 'conference', opts: { max_members: 1 } };
    expect((await rest.send('POST', '/rest/v1/domain/featurecodes', { body: code })).status).to.equal(200);
    const member = await carol.call('*74011');
    await member.answered();
    const dialog = (await stage.dialogs()).find(({ callids }) => callids.includes(outgoing.callId));
    const refused = await rest.send('REFERCONF', `${CALLS}/${dialog?.dialogid}`, {
      body: { by: ALICE, referconfnumber: '*74011' },
    });
    expect(expectError(refused, 422, 1405).error_details).to.deep.equal({
      field: 'referconfnumber',
      reason: 'the conference is full',
    });
    await expectTalk(outgoing, incoming);
    expect((await stage.dialogs()).map(({ dialogid }) => dialogid)).to.include(dialog?.dialogid);
    expect(alice.waitingCalls).to.equal(0);
    expect(member.established).to.equal(true);
  });
});
