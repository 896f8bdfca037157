import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** X is alice (101), who is called first; Y is bob (102), to whom X is transferred. */

type Result = Readonly<Record<string, unknown>>;

describe('POST /uc/calls that fails', () => {
  const stage = useStage();

  function start(response_mode: number, body: object = {}): Promise<RestAnswer> {
    return stage.operate('POST', { from: '101', to: '102', response_mode, ...body });
  }

  function resultOf(answer: RestAnswer): Result {
    expect(answer.status, answer.text).to.equal(200);
    const { ivrcallid, ...rest } = answer.json<Record<string, unknown>>();
    expect(ivrcallid).to.be.a('string').and.not.equal('');
    return rest;
  }

  for (const mode of [0, 1]) {
    it(`mode ${mode}: X rings, then refuses: ok, because the answer came before`, async () => {
      const alice = await stage.phone('alice');
      const answer = start(mode);
      const x = await alice.incoming();
      x.ring();
      expect(resultOf(await answer)).to.deep.equal({ result: 'ok' });
      x.reject(486);
      await stage.expectNoDialog();
    });
  }

  for (const mode of [2, 3, 4, 5]) {
    it(`mode ${mode}: X refuses: rejected, without anything about Y`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const answer = start(mode);
      const x = await alice.incoming();
      x.ring();
      x.reject(486);
      expect(resultOf(await answer)).to.deep.equal({ result: 'rejected' });
      await stage.expectNoDialog();
      expect(bob.waitingCalls).to.equal(0);
    });
  }

  for (const mode of [1, 2, 3, 4, 5]) {
    it(`mode ${mode}: X has no phone: rejected`, async () => {
      expect(resultOf(await start(mode))).to.deep.equal({ result: 'rejected' });
      await stage.expectNoDialog();
    });
  }

  it('X does not answer within calltimeout: rejected, and X stops ringing', async () => {
    const alice = await stage.phone('alice');
    const asked = Date.now();
    const answer = start(2, { calltimeout: 1 });
    const x = await alice.incoming();
    x.ring();
    expect(resultOf(await answer)).to.deep.equal({ result: 'rejected' });
    expect(Date.now() - asked).to.be.within(900, 3000);
    expect((await x.ended()).by).to.equal('cancelled');
    await stage.expectNoDialog();
  });

  for (const mode of [0, 1, 2]) {
    it(`mode ${mode}: Y refuses: ok, and X is released`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const answer = start(mode);
      const x = await alice.incoming();
      x.ring();
      await x.answer();
      expect(resultOf(await answer)).to.deep.equal({ result: 'ok' });
      (await bob.incoming()).reject(486);
      expect((await x.ended()).by).to.equal('there');
      await stage.expectNoDialog();
    });
  }

  for (const mode of [3, 4, 5]) {
    it(`mode ${mode}: Y refuses: rejected with its answer, and X is released`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const answer = start(mode);
      const x = await alice.incoming();
      await x.answer();
      (await bob.incoming()).reject(486);
      const { acallid, ...rest } = resultOf(await answer);
      expect(rest).to.deep.equal({ result: 'rejected', last_response: 'SIP/2.0 486 Busy Here' });
      expect(acallid).to.be.a('string').and.not.equal('');
      expect((await x.ended()).by).to.equal('there');
      await stage.expectNoDialog();
    });
  }

  it('mode 3: Y rings, then refuses: ok, because the answer came before', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const answer = start(3);
    const x = await alice.incoming();
    await x.answer();
    const y = await bob.incoming();
    y.ring();
    expect(resultOf(await answer)).to.deep.include({ result: 'ok', last_response: 'SIP/2.0 180 Ringing' });
    y.reject(603);
    expect((await x.ended()).by).to.equal('there');
    await stage.expectNoDialog();
  });

  for (const [what, to, status] of [
    ['is a number nobody has', '199', '404 Not Found'],
    ['has no phone', '104', '480 Temporarily Unavailable'],
  ] as const) {
    for (const mode of [3, 4, 5]) {
      it(`mode ${mode}: Y ${what}: rejected with ${status}, and X is released`, async () => {
        const alice = await stage.phone('alice');
        const answer = start(mode, { to });
        const x = await alice.incoming();
        await x.answer();
        const { acallid, ...rest } = resultOf(await answer);
        expect(rest).to.deep.equal({ result: 'rejected', last_response: `SIP/2.0 ${status}` });
        expect(acallid).to.be.a('string').and.not.equal('');
        expect((await x.ended()).by).to.equal('there');
        await stage.expectNoDialog();
      });
    }
  }

  for (const mode of [3, 4, 5]) {
    it(`mode ${mode}: X hangs up while Y rings: Y stops ringing`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const answer = start(mode);
      const x = await alice.incoming();
      await x.answer();
      const y = await bob.incoming();
      y.ring();
      if (mode === 3) expect(resultOf(await answer)).to.deep.include({ result: 'ok' });
      // X must have heard the ringing, so that Y is known to ring.
      await x.hearsSound();
      await x.hangup();
      expect((await y.ended()).by).to.equal('cancelled');
      if (mode > 3) {
        const result = resultOf(await answer);
        expect(result['result']).to.be.oneOf(['rejected', 'error']);
        expect(result).not.to.have.property('dialogid');
      }
      await stage.expectNoDialog();
    });
  }

  it('X hangs up before Y is reached: nothing is left', async () => {
    const alice = await stage.phone('alice');
    await stage.phone('bob');
    const answer = start(5);
    const x = await alice.incoming();
    await x.answer();
    await x.hangup();
    expect(resultOf(await answer)['result']).to.be.oneOf(['rejected', 'error']);
    await stage.expectNoDialog();
  });

  it('Y does not answer until X gives up: both are released', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const answer = start(2);
    const x = await alice.incoming();
    await x.answer();
    expect(resultOf(await answer)).to.deep.equal({ result: 'ok' });
    const y = await bob.incoming();
    await x.hangup();
    expect((await y.ended()).by).to.equal('cancelled');
    await stage.expectNoDialog();
  });

  const wrong: [string, object, string][] = [
    ['without from', { to: '102' }, 'from'],
    ['without to', { from: '101' }, 'to'],
    ['with an empty to', { from: '101', to: '' }, 'to'],
    ['with a response_mode of 6', { from: '101', to: '102', response_mode: 6 }, 'response_mode'],
    ['with a calltimeout that is no number', { from: '101', to: '102', calltimeout: 'soon' }, 'calltimeout'],
    ['with an unknown mode', { from: '101', to: '102', mode: 'name' }, 'mode'],
    ['with a line break in callername', { from: '101', to: '102', callername: 'a\r\nX: y' }, 'callername'],
  ];
  for (const [what, body, field] of wrong) {
    it(`is refused with 400 ${what}, and nobody is called`, async () => {
      const alice = await stage.phone('alice');
      const error = expectError(await stage.operate('POST', body), 400, 1400);
      expect(error.error_details?.field).to.equal(field);
      expect(error.error_details?.reason).to.be.a('string').and.not.equal('');
      expect(alice.waitingCalls).to.equal(0);
    });
  }
});
