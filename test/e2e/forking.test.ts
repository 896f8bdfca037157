import { expect } from 'chai';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { expectWellFormed } from '../support/dialog.ts';
import { expectCleanRtp, expectTalk } from './expectations.ts';

describe('forking to several contacts', () => {
  const stage = useStage();

  it('rings every contact; the first answer wins and the others are cancelled', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    // drachtio-server sends every INVITE for bob@127.0.0.1 over the same TCP connection (docs/conformance.md).
    const mobile = await stage.phone('bob', REAL_SIP ? {} : { transport: 'tcp' });
    const call = await alice.call('102');
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atDesk.ring();
    atMobile.ring();
    await call.ringing();
    const forking = await stage.dialog();
    expectWellFormed(forking);
    expect(forking.status).to.equal('forking');
    expect(forking.callids).to.have.members([call.callId, atDesk.callId, atMobile.callId]);
    await atMobile.answer();
    await call.answered();
    expect((await atDesk.ended()).by).to.equal('cancelled');
    await expectTalk(call, atMobile);
    const talking = await stage.dialog();
    expect(talking).to.include({ status: 'dialog', dialogid: forking.dialogid, inviteid: forking.inviteid });
    expect(talking.callids).to.have.members([call.callId, atMobile.callId]);
    expectCleanRtp(call, atMobile);
  });

  it('keeps ringing the others when one is busy', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atMobile.ring();
    await call.ringing();
    atDesk.reject(486);
    await atMobile.answer();
    await call.answered();
    await expectTalk(call, atMobile);
  });

  it('ends everywhere on 603 from one contact', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atMobile.ring();
    await call.ringing();
    // RFC 3261 section 16.7, step 5: a 6xx ends the search.
    atDesk.reject(603);
    expect((await atMobile.ended()).by).to.equal('cancelled');
    expect((await call.refused()).status).to.equal(603);
  });

  it('cancels every contact when the caller hangs up', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atDesk.ring();
    atMobile.ring();
    await call.ringing();
    await call.cancel();
    expect((await atDesk.ended()).by).to.equal('cancelled');
    expect((await atMobile.ended()).by).to.equal('cancelled');
  });

  it('answers the best of the refusals when all refuse', async () => {
    const alice = await stage.phone('alice');
    const desk = await stage.phone('bob');
    const mobile = await stage.phone('bob');
    const call = await alice.call('102');
    const [atDesk, atMobile] = await Promise.all([desk.incoming(), mobile.incoming()]);
    atDesk.reject(486);
    atMobile.reject(486);
    expect((await call.refused()).status).to.equal(486);
  });
});
