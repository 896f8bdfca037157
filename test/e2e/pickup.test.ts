import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

describe('call pickup', () => {
  const stage = useStage();

  before('make a featurecode for it', async () => {
    const answer = await (await stage.rest()).send('POST', '/rest/v1/domain/featurecodes', {
      body: { prefix: '*9', type: 'pickup' },
    });
    expect(answer.status, answer.text).to.equal(200);
  });

  for (const dialled of ['*9102', '*9'] as const) {
    it(`${dialled} takes a call that rings at another phone`, async () => {
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const outgoing = await alice.call('102');
      const ringing = await bob.incoming();
      ringing.ring();
      await outgoing.ringing();
      const picker = await carol.call(dialled);
      await picker.answered();
      await outgoing.answered();
      expect((await ringing.ended()).by).to.equal('cancelled');
      await expectTalk(outgoing, picker);
      const dialog = await stage.dialog();
      expect(dialog).to.include({ status: 'dialog', acallid: outgoing.callId });
      expect(dialog.callids).to.include(picker.callId);
      await picker.hangup();
      await outgoing.ended();
    });
  }

  it('takes a call placed by the platform, which goes on with the new phone', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const asked = stage.operate('POST', { from: '101', to: '103', response_mode: 4 });
    const ringing = await alice.incoming();
    ringing.ring();
    await eventually(async () => expect((await stage.dialog()).status).to.equal('forking'));
    const picker = await bob.call('*9101');
    await picker.answered();
    const target = await carol.incoming();
    await target.answer();
    expect((await asked).json()).to.include({ result: 'ok' });
    await expectTalk(picker, target);
  });

  it('is refused without a ringing call', async () => {
    const carol = await stage.phone('carol');
    expect(await (await carol.call('*9102')).refused()).to.include({ status: 404 });
    expect(await (await carol.call('*9')).refused()).to.include({ status: 404 });
    expect((await (await stage.rest()).get(CALLS)).json()).to.deep.equal([]);
  });
});
