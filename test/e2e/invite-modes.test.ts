/** X is alice (101), who is called first and then transferred to Y, bob (102). */
import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import type { Phone } from '../phones/phone.ts';
import type { RestAnswer } from '../phones/rest-client.ts';
import { expectWellFormed } from '../support/dialog.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectCleanRtp, expectTalk } from './expectations.ts';

interface InviteResult {
  readonly result: string;
  readonly ivrcallid: string;
  readonly acallid?: string;
  readonly last_response?: string;
  readonly dialogid?: string;
}

describe('POST /uc/calls answered by X and Y', () => {
  const stage = useStage();
  let alice: Phone;
  let bob: Phone;
  let x: IncomingCall;
  let y: IncomingCall;

  beforeEach(async () => {
    [alice, bob] = await stage.phones('alice', 'bob');
  });

  function start(response_mode?: number): Promise<RestAnswer> {
    return stage.operate('POST', { from: '101', to: '102', ...(response_mode === undefined ? {} : { response_mode }) });
  }

  function resultOf(answer: RestAnswer): InviteResult {
    expect(answer.status, answer.text).to.equal(200);
    const result = answer.json<InviteResult>();
    expect(result.result, answer.text).to.equal('ok');
    expect(result.ivrcallid).to.be.a('string').and.not.equal('');
    return result;
  }

  async function xAnswers(): Promise<void> {
    x = await alice.incoming();
    x.ring();
    await x.answer();
    y = await bob.incoming();
  }

  async function talkAndEnd(): Promise<void> {
    await expectTalk(x, y);
    expect(await stage.dialogs()).to.have.length(1);
    await y.hangup();
    expect((await x.ended()).by).to.equal('there');
    expectCleanRtp(x, y);
    await stage.expectNoDialog();
  }

  it('is a call to X first, and then the target dialog', async () => {
    const { ivrcallid } = resultOf(await start(0));
    x = await alice.incoming();
    const first = await stage.dialog();
    expectWellFormed(first);
    expect(first).to.include({ status: 'forking', acallid: ivrcallid });
    expect(first.callids).to.have.members([ivrcallid, x.callId]);
    await x.answer();
    y = await bob.incoming();
    y.ring();
    await x.hearsSound();
    const ringing = await stage.dialogs();
    expect(ringing.filter(({ callids }) => callids.includes(y.callId)).map(({ status }) => status)).to.deep.equal([
      'forking',
    ]);
    await y.answer();
    await expectTalk(x, y);
    const dialog = await stage.dialog();
    expectWellFormed(dialog);
    expect(dialog).to.include({ status: 'dialog', localuri: '<sip:102@demo.local>' });
    expect(dialog.uris).to.have.members(['alice', '101', 'bob', '102'].map((name) => `<sip:${name}@demo.local>`));
    expect(dialog.callids).to.have.members([x.callId, y.callId]);
    await talkAndEnd();
  });

  it('connects phones over TCP and with different codecs', async () => {
    await Promise.all([alice.stop(), bob.stop()]);
    alice = await stage.phone('alice', { transport: 'tcp', codecs: ['PCMA'] });
    bob = await stage.phone('bob', { transport: 'tcp', codecs: ['PCMU'] });
    const answer = start(4);
    await xAnswers();
    await y.answer();
    resultOf(await answer);
    await talkAndEnd();
  });

  it('plays ringback to X until Y answers, and not afterwards', async () => {
    const answer = start(4);
    await xAnswers();
    y.ring();
    await x.hears(425, { withinMs: 5000 });
    await y.answer();
    await answer;
    y.play(620);
    await x.hears(620);
    await x.hearsNot(425, { forMs: 500 });
  });

  for (const [what, method, path] of [
    ['the method INVITE', 'INVITE', CALLS],
    ['!invite', 'POST', `${CALLS}!invite`],
  ] as const) {
    it(`also works as ${what}`, async () => {
      const body = { from: '101', to: '102', response_mode: 4 };
      const answer = (await stage.rest()).send(method, path, { body });
      await xAnswers();
      await y.answer();
      resultOf(await answer);
      await talkAndEnd();
    });
  }

  it('continues after the HTTP client has disconnected', async () => {
    const client = await stage.node.login();
    const lost = client.send('POST', CALLS, { body: { from: '101', to: '102', response_mode: 5 } }).catch(() => {});
    x = await alice.incoming();
    client.close();
    await lost;
    await x.answer();
    y = await bob.incoming();
    await y.answer();
    await talkAndEnd();
  });

  it('allows hold and resume from both sides', async () => {
    const answer = start(4);
    await xAnswers();
    await y.answer();
    resultOf(await answer);
    await x.hold();
    await x.unhold();
    await y.hold('inactive');
    await y.unhold();
    await talkAndEnd();
  });
});
