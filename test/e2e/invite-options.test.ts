import { expect } from 'chai';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { useStage } from '../support/stage.ts';

/** X is alice (101), who is called first and then transferred to Y, bob (102). */
describe('parameters of POST /uc/calls', () => {
  const stage = useStage();

  async function start(body: object): Promise<void> {
    const answer = await stage.operate('POST', { from: '101', to: '102', response_mode: 0, ...body });
    expect(answer.status, answer.text).to.equal(200);
  }

  const AUTO_ANSWER = ['Call-Info', 'Alert-Info', 'Answer-Mode'];

  function asksToAnswer(call: IncomingCall): boolean {
    return AUTO_ANSWER.some((name) => /answer-after=0|auto-?answer|^auto$/i.test(call.header(name) ?? ''));
  }

  it('X sees its own number and callmanager by default', async () => {
    const alice = await stage.phone('alice');
    await start({});
    const x = await alice.incoming();
    expect(x.callerId).to.equal('101');
    expect(x.callerName).to.equal('callmanager');
    expect(asksToAnswer(x)).to.equal(false);
  });

  it('callerid and callername are shown to X', async () => {
    const alice = await stage.phone('alice');
    await start({ callerid: '900', callername: 'Front "desk", 1st floor' });
    const x = await alice.incoming();
    expect(x.callerId).to.equal('900');
    expect(x.callerName).to.equal('Front "desk", 1st floor');
  });

  it('mode sipuser calls X by login', async () => {
    const alice = await stage.phone('alice');
    await start({ from: 'alice', mode: 'sipuser' });
    (await alice.incoming()).ring();
  });

  it('every contact of X rings; the one that answers is transferred', async () => {
    const desk = await stage.phone('alice');
    const mobile = await stage.phone('alice');
    const bob = await stage.phone('bob');
    await start({});
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atDesk.ring();
    await atMobile.answer();
    expect((await atDesk.ended()).by).to.equal('cancelled');
    const y = await bob.incoming();
    await y.answer();
    y.play(620);
    await atMobile.hears(620);
  });

  it('Y sees the number of X', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await start({});
    await (await alice.incoming()).answer();
    expect((await bob.incoming()).callerId).to.equal('101');
  });

  it('use_intercom makes the phone of X answer automatically', async () => {
    const alice = await stage.phone('alice');
    await start({ use_intercom: true });
    const x = await alice.incoming();
    expect(asksToAnswer(x), x.invite.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')).to.equal(true);
    expect(x.callerId).to.equal('101');
  });

  it('use_intercom does not apply to Y', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await start({ use_intercom: true });
    await (await alice.incoming()).answer();
    expect(asksToAnswer(await bob.incoming())).to.equal(false);
  });

  it("the DTMF tail of to is sent after Y's answer, with a second of pause for each further comma", async function () {
    // A late process spoils the measure of the pause; a wrong pause is wrong each time.
    this.retries(2);
    const [alice, bob] = await stage.phones('alice', 'bob');
    await start({ to: "102'12,3" });
    await (await alice.incoming()).answer();
    const y = await bob.incoming();
    expect(y.session.rtp.digits).to.equal('');
    await y.answer();
    await y.receivesDtmf('12');
    const paused = Date.now();
    await y.receivesDtmf('123');
    expect(Date.now() - paused).to.be.within(1000, 2000);
    expect(y.session.rtp.digits).to.equal('123');
  });

  it('a DTMF tail may also start with a comma', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    await start({ to: '102,5#' });
    await (await alice.incoming()).answer();
    const y = await bob.incoming();
    await y.answer();
    await y.receivesDtmf('5#');
  });

  it('binding is accepted as a label of the call', async () => {
    const alice = await stage.phone('alice');
    await start({ binding: 'seance_4711' });
    (await alice.incoming()).ring();
  });

  it('X can be connected to a scenario', async () => {
    const alice = await stage.phone('alice');
    await start({ to: '501' });
    const x = await alice.incoming();
    await x.answer();
    x.play(700);
    await x.hears(700, { withinMs: 5000 });
  });
});
