import { expect } from 'chai';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

describe('DELETE of a dialog', () => {
  const stage = useStage();

  async function terminate(dialogid: string): Promise<void> {
    const answer = await (await stage.rest()).send('DELETE', `${CALLS}/${dialogid}`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json()).to.deep.equal({ dialogid });
  }

  it('ends an answered call for both phones', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await terminate((await stage.dialog()).dialogid);
    expect((await outgoing.ended()).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
    await stage.expectNoDialog();
  });

  it('cancels every called phone of a ringing call and refuses the caller', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const forks = await Promise.all([desk.incoming(), mobile.incoming()]);
    for (const fork of forks) fork.ring();
    await call.ringing();
    await terminate((await stage.dialog()).dialogid);
    for (const fork of forks) expect((await fork.ended()).by).to.equal('cancelled');
    expect((await call.refused()).status).to.be.within(400, 699);
    await stage.expectNoDialog();
  });

  it('ends a scenario', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('501');
    await call.answered();
    await terminate((await stage.dialog()).dialogid);
    expect((await call.ended()).by).to.equal('there');
  });

  it('ends a POST call while X rings', async () => {
    const alice = await stage.phone('alice');
    const started = await stage.operate('POST', { from: '101', to: '102', response_mode: 0 });
    expect(started.status, started.text).to.equal(200);
    const x = await alice.incoming();
    x.ring();
    await terminate((await stage.dialog()).dialogid);
    expect((await x.ended()).by).to.equal('cancelled');
    await stage.expectNoDialog();
  });

  it('ends a POST call while Y rings', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const started = stage.operate('POST', { from: '101', to: '102', response_mode: 3 });
    const x = await alice.incoming();
    await x.answer();
    const y = await bob.incoming();
    y.ring();
    const { dialogid } = (await started).json<{ dialogid: string }>();
    await terminate(dialogid);
    expect((await y.ended()).by).to.equal('cancelled');
    expect((await x.ended()).by).to.equal('there');
    await stage.expectNoDialog();
  });

  it('answers 404 with 1413 for an unknown or ended dialog', async () => {
    const rest = await stage.rest();
    const error = expectError(await rest.send('DELETE', `${CALLS}/no-such-dialog`), 404, 1413);
    expect(error.error_message).to.equal('Dialog not found');
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    await outgoing.hangup();
    await stage.expectNoDialog();
    expectError(await rest.send('DELETE', `${CALLS}/${dialogid}`), 404, 1413);
  });

  it('also works as !delete', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const answer = await (await stage.rest()).send('POST', `${CALLS}/${dialogid}!delete`);
    expect(answer.status, answer.text).to.equal(200);
    expect((await outgoing.ended()).by).to.equal('there');
  });
});
