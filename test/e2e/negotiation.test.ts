import { expect } from 'chai';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { expectCleanRtp, expectTalk } from './expectations.ts';

describe('what phones do beside plain calls', () => {
  const stage = useStage();

  it('an INVITE without an offer gets one in the 200', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const outgoing = await alice.call('102', { lateOffer: true });
    const incoming = await bob.incoming();
    incoming.ring();
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
  });

  it('a re-INVITE without an offer gets one in the 200', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (const call of [outgoing, incoming]) {
      const response = await call.reinvite({ offerless: true });
      expect(response.status).to.equal(200);
      expect(response.body).to.contain('m=audio');
    }
    await expectTalk(outgoing, incoming);
  });

  it('an UPDATE is answered, with and without an offer', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (const call of [outgoing, incoming]) {
      expect((await call.update()).status).to.equal(200);
      expect((await call.request('UPDATE')).status).to.equal(200);
    }
    await expectTalk(outgoing, incoming);
  });

  it('early media of the called phone reaches the caller', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.play(620);
    incoming.ringWithEarlyMedia();
    expect(await outgoing.earlyMedia()).to.equal(183);
    await outgoing.hears(620);
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
    expectCleanRtp(outgoing, incoming);
  });

  it('the caller may hang up during early media', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming();
    incoming.ringWithEarlyMedia();
    await outgoing.earlyMedia();
    await outgoing.cancel();
    expect((await incoming.ended()).by).to.equal('cancelled');
  });

  it('OPTIONS to the server is answered', async () => {
    const alice = await stage.phone('alice');
    expect((await alice.request('OPTIONS')).status).to.equal(200);
  });

  for (const [method, headers] of [
    ['SUBSCRIBE', [{ name: 'Event', value: 'message-summary' }]],
    ['PUBLISH', [{ name: 'Event', value: 'presence' }]],
    ['MESSAGE', []],
    ['FROBNICATE', []],
  ] as const) {
    it(`${method}, which is not supported, is refused and not left unanswered`, async function () {
      // drachtio-server answers nothing that SIP does not know, and asks no application (docs/conformance.md).
      if (REAL_SIP && method === 'FROBNICATE') this.skip();
      const alice = await stage.phone('alice');
      expect((await alice.request(method, headers)).status).to.be.within(400, 599);
    });
  }

  it('BYE and CANCEL for calls that do not exist are answered with 481', async () => {
    const alice = await stage.phone('alice');
    expect((await alice.request('CANCEL')).status).to.equal(481);
    expect((await alice.request('BYE')).status).to.equal(481);
  });
});
