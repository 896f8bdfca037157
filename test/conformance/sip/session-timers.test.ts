import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { Moment } from '../../phones/wait.ts';
import { REAL_SIP } from '../../support/real-servers.ts';
import { sdp } from '../support/sdp.ts';
import { useSipStage } from '../support/stage.ts';

/** Tests of RFC 4028 that need not wait for the shortest interval, 90 s; the others are in test/embedded/sip. */
describe('Conformance, SIP server: session timers', () => {
  const stage = useSipStage();
  const SDP_TYPE = { name: 'Content-Type', value: 'application/sdp' };
  const SUPPORTED = { name: 'Supported', value: 'timer' };

  /** Session-Expires of the 200 to an INVITE with this one; `app` is the header of the application's answer. */
  async function agreed(offer: string, app: Record<string, string> = {}): Promise<string | undefined> {
    const agent = await stage.agent();
    const headers = [SUPPORTED, { name: 'Session-Expires', value: offer }];
    const call = agent.start('INVITE', stage.target, { headers });
    const { request, response } = await stage.incoming('invite');
    expect(request.get('Session-Expires')).to.equal(offer);
    response.send(200, { body: sdp(20_000), headers: app });
    const final = await call.final;
    return final && header(final, 'session-expires');
  }

  it('an offer with a refresher is accepted', async () => {
    expect(await agreed('1800;refresher=uac')).to.equal('1800;refresher=uac');
    expect(await agreed('1800;refresher=uas')).to.equal('1800;refresher=uas');
  });

  it('a too short interval is raised', async () => {
    expect(await agreed('60;refresher=uac')).to.equal('90;refresher=uac');
  });

  it('an offer without a refresher is left to the application', async () => {
    expect(await agreed('1800')).to.equal(undefined);
    expect(await agreed('1800', { 'Session-Expires': '1200;refresher=uac' })).to.equal('1200;refresher=uac');
  });

  it('a re-INVITE and an UPDATE with an interval below 90 s are refused by the server', async () => {
    const agent = await stage.agent();
    const { app, far } = await stage.answeredCall(agent);
    let events = 0;
    app.on('modify', () => (events += 1));
    app.on('update', () => (events += 1));
    for (const method of ['INVITE', 'UPDATE']) {
      const headers = [SUPPORTED, { name: 'Session-Expires', value: '60' }];
      const answer = await agent.inDialog(far, method, headers, method === 'INVITE' ? sdp(41_000, 2) : '');
      expect(answer?.status, method).to.equal(422);
      expect(answer && header(answer, 'min-se'), method).to.equal('90');
    }
    expect(events).to.equal(0);
    const ended = app.destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });

  // The shortest interval, 90 s, passes once for both tests. test/embedded/sip controls the time of the embedded server.
  if (REAL_SIP) {
    it('a call is refreshed after half the interval, and ends without refresh', async function () {
      this.timeout(120_000);
      const calls = await Promise.all(
        ['uas', 'uac'].map(async (refresher) => {
          const agent = await stage.agent();
          const headers = [SUPPORTED, { name: 'Session-Expires', value: `90;refresher=${refresher}` }];
          const calling = agent.call(stage.target, headers);
          const { request, response } = await stage.incoming('invite');
          const app = await stage.srf.createUAS(request, response, { localSdp: sdp(20_000) });
          return { agent, app, far: await calling };
        }),
      );
      const [refreshed, expiring] = calls;
      if (refreshed === undefined || expiring === undefined) throw new Error('two calls');
      const ended = new Moment<true>('end for the application');
      expiring.app.on('destroy', () => ended.reach(true));
      const refresh = await refreshed.agent.request('INVITE', 60_000);
      expect(header(refresh.request, 'session-expires')).to.match(/^90;refresher=uac/);
      refresh.respond(200, { headers: [refreshed.agent.contact, SDP_TYPE, SUPPORTED], body: sdp(41_000) });
      await refresh.acked;
      const bye = await expiring.agent.request('BYE', 60_000);
      expect(header(bye.request, 'reason')).to.contain('Session timer expired');
      bye.respond(200);
      await ended.wait(2000);
      const over = refreshed.app.destroy();
      (await refreshed.agent.request('BYE')).respond(200);
      await over;
    });
  }
});
