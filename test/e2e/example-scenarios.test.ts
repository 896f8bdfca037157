import { expect } from 'chai';
import { DEMO_SCENARIOS } from '../../runtime/iam/index.ts';
import { useStage } from '../support/stage.ts';
import { expectWellFormed } from '../support/dialog.ts';
import { expectCleanRtp } from './expectations.ts';

describe('example scenarios', () => {
  const stage = useStage();

  for (const transport of ['udp', 'tcp'] as const) {
    it(`501 echoes the caller over ${transport}`, async () => {
      const alice = await stage.phone('alice', { transport });
      const call = await alice.call('501');
      await call.answered();
      for (const frequency of [440, 1000]) {
        call.play(frequency);
        await call.hears(frequency);
      }
      expectCleanRtp(call);
      await call.hangup();
    });
  }

  it('501 is a dialog with the number as called party', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('501');
    await call.answered();
    const dialog = await stage.dialog();
    expectWellFormed(dialog);
    expect(dialog).to.include({ status: 'dialog', acallid: call.callId, localuri: '<sip:501@demo.local>' });
  });

  for (const by of ['rfc4733', 'info'] as const) {
    it(`500 greets, takes a choice by ${by}, and hangs up after it`, async () => {
      const alice = await stage.phone('alice');
      const call = await alice.call('500');
      await call.answered();
      await call.hearsSound();
      // The first digit interrupts the greeting, the second is the choice.
      await call.sendDtmf('1', { by });
      await call.sendDtmf('1', { by });
      await call.hearsSound();
      expect((await call.ended(15_000)).by).to.equal('there');
      expectCleanRtp(call);
    });
  }

  it('500 rejects a wrong choice and asks again', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    await call.hearsSound();
    await call.sendDtmf('9');
    await call.sendDtmf('9');
    await call.hearsSound();
    await call.sendDtmf('2');
    expect((await call.ended(15_000)).by).to.equal('there');
  });

  it('500 ends without further sound when the caller hangs up during the prompt', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    await call.hearsSound();
    await call.hangup();
    await stage.expectNoDialog();
  });

  it('every example answers at the number of its demo data', async () => {
    const alice = await stage.phone('alice');
    for (const number of Object.keys(DEMO_SCENARIOS)) {
      const call = await alice.call(number);
      await call.answered();
      await call.hangup();
    }
    await stage.expectNoDialog();
  });

  it('the featurecode *55 reaches scenarios by their code', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('*55echo');
    await call.answered();
    call.play(700);
    await call.hears(700);
  });

  it('hidden service scenarios cannot be called', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('*55invite');
    expect((await call.refused()).status).to.be.within(400, 499);
  });
});
