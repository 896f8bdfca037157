import { expect } from 'chai';
import { useStage } from '../support/stage.ts';

describe('calls without an answer', () => {
  const stage = useStage();

  for (const status of [486, 603, 480]) {
    it(`the caller gets the ${status} of the called phone`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const call = await alice.call('102');
      const incoming = await bob.incoming();
      incoming.ring();
      await call.ringing();
      incoming.reject(status);
      expect((await call.refused()).status).to.equal(status);
      await stage.expectNoDialog();
    });
  }

  for (const [status, instead] of [
    [499, 400],
    [607, 600],
    [555, 500],
  ] as const) {
    it(`an unusual ${status} of the called phone reaches the caller as ${instead}, and the node goes on`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const call = await alice.call('102');
      (await bob.incoming()).reject(status);
      expect((await call.refused()).status).to.equal(instead);
      await stage.expectNoDialog();
    });
  }

  it('the caller gets 404 for an unknown number', async () => {
    const alice = await stage.phone('alice');
    expect((await (await alice.call('199')).refused()).status).to.equal(404);
  });

  it('the caller gets 480 for an account without a registered phone', async () => {
    const alice = await stage.phone('alice');
    expect((await (await alice.call('104')).refused()).status).to.equal(480);
  });

  it('a call and a text to a phone registered by a transport without a port here get 480', async () => {
    const alice = await stage.phone('alice');
    const dave = await stage.phone('dave', { unregistered: true });
    for (const transport of ['tls', 'ws']) {
      await dave.register({ contact: `${dave.contact};transport=${transport}` });
      expect((await (await alice.call('104')).refused()).status).to.equal(480);
      expect((await alice.message('104', 'hello')).status).to.equal(480);
      await dave.register({ contact: '*', expires: 0 });
    }
  });

  it('a hang-up during ringing reaches the called phone as CANCEL', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await call.ringing();
    await call.cancel();
    expect((await incoming.ended()).by).to.equal('cancelled');
    expect((await call.ended()).status).to.equal(487);
    await stage.expectNoDialog();
  });

  it('an immediate hang-up of the caller leaves no dialog', async () => {
    const [alice] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    await call.cancel();
    await stage.expectNoDialog();
  });

  it('both sides end when the answer crosses the CANCEL', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ring();
    await call.ringing();
    await Promise.all([incoming.answer().catch(() => {}), call.cancel()]);
    await incoming.ended();
    await stage.expectNoDialog();
  });

  it('the caller is refused without a common codec', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('102');
    (await bob.incoming()).reject(488);
    expect((await call.refused()).status).to.equal(488);
  });
});
