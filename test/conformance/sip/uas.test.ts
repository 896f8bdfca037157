import { expect } from 'chai';
import { header, headerLines, serialise, type SipResponse } from '../../phones/sip/message.ts';
import { tagOf } from '../../phones/sip/address.ts';
import { Dialog } from '../../phones/sip/dialog.ts';
import { Moment, observeFor } from '../../phones/wait.ts';
import { sdp } from '../support/sdp.ts';
import { useSipStage } from '../support/stage.ts';

describe('Conformance, SIP server: incoming calls for the application', () => {
  const stage = useSipStage();

  it('the application gets the request with its source, and the server answers 100', async () => {
    const agent = await stage.agent();
    const seen: number[] = [];
    const call = agent.start('INVITE', stage.target, { provisional: ({ status }) => seen.push(status) });
    const { request, response } = await stage.incoming('invite');
    expect(request.method).to.equal('INVITE');
    expect(request.uri).to.equal(stage.target);
    expect(request.protocol).to.equal('udp');
    expect(`${request.source_address}:${request.source_port}`).to.equal(agent.endpoint.hostPort);
    expect(request.body).to.equal(call.request.body);
    expect(request.get('Call-ID')).to.equal(header(call.request, 'call-id'));
    response.send(486);
    expect((await call.final)?.status).to.equal(486);
    expect(seen).to.deep.equal([100]);
  });

  it("180 and 200 have the application's body and headers, one To tag, and a Contact on the 2xx", async () => {
    const agent = await stage.agent();
    const ringing = new Moment<SipResponse>('180');
    const calling = agent.start('INVITE', stage.target, {
      provisional: (response) => {
        if (response.status > 100) ringing.reach(response);
      },
    });
    const { request, response } = await stage.incoming('invite');
    response.send(180, { headers: { 'X-App': 'ringing' } });
    const early = await ringing.wait(1000);
    expect(early.status).to.equal(180);
    expect(header(early, 'x-app')).to.equal('ringing');
    expect(header(early, 'contact'), 'Contact of an unreliable 180').to.equal(undefined);
    const creating = stage.srf.createUAS(request, response, { localSdp: sdp(20_000), headers: { 'X-App': 'lab' } });
    const answer = await calling.final;
    expect(answer?.status).to.equal(200);
    expect(answer?.body).to.equal(sdp(20_000));
    expect(header(answer as SipResponse, 'x-app')).to.equal('lab');
    expect(header(answer as SipResponse, 'content-type')).to.equal('application/sdp');
    expect(header(answer as SipResponse, 'contact')).to.equal(`<sip:${stage.hostPort}>`);
    expect(tagOf(header(answer as SipResponse, 'to'))).to.equal(tagOf(header(early, 'to')));
    // The dialog is made when the ACK comes.
    agent.endpoint.sendAck(ackFor(calling.request, answer as SipResponse), agent.endpoint.peerOf(stage.target));
    const dialog = await creating;
    expect(dialog.sip.callId).to.equal(header(calling.request, 'call-id'));
    expect(dialog.sip.localTag).to.equal(tagOf(header(early, 'to')));
    expect(dialog.remote.sdp).to.equal(calling.request.body);
    const bye = agent.request('BYE').then((transaction) => transaction.respond(200));
    await dialog.destroy();
    await bye;
  });

  it('the 200 is repeated until the ACK arrives, and no longer', async () => {
    const agent = await stage.agent();
    const again: SipResponse[] = [];
    const repeated = new Moment<true>('second 200');
    const target = stage.target;
    const invite = agent.start('INVITE', target);
    const { request, response } = await stage.incoming('invite');
    const creating = stage.srf.createUAS(request, response, { localSdp: sdp(20_000) });
    const answer = (await invite.final) as SipResponse;
    const receive = invite.receive.bind(invite);
    invite.receive = (message) => {
      if (message.status === 200) {
        again.push(message);
        repeated.reach(true);
      }
      receive(message);
    };
    await repeated.wait(1500);
    agent.endpoint.sendAck(ackFor(invite.request, answer), agent.endpoint.peerOf(target));
    const dialog = await creating;
    const before = again.length;
    await observeFor(1200);
    expect(again.length, '200s after the ACK').to.equal(before);
    const bye = agent.request('BYE').then((transaction) => transaction.respond(200));
    await dialog.destroy();
    await bye;
  });

  it('a retransmitted INVITE does not reach the application', async () => {
    const agent = await stage.agent();
    const call = agent.start('INVITE', stage.target);
    const { response } = await stage.incoming('invite');
    response.send(180);
    call.peer.send(serialise(call.request));
    const second = await stage.incoming('invite', 200).catch(() => undefined);
    expect(second, 'the application got the retransmission').to.equal(undefined);
    response.send(603);
    expect((await call.final)?.status).to.equal(603);
  });

  for (const status of [404, 480, 486, 503, 603]) {
    it(`${status} of the application refuses the call, and the server absorbs the ACK`, async () => {
      const agent = await stage.agent();
      const calling = agent.send('INVITE', stage.target);
      const { response } = await stage.incoming('invite');
      response.send(status, { headers: { 'X-Why': 'test' } });
      const answer = await calling;
      expect(answer?.status).to.equal(status);
      expect(header(answer as SipResponse, 'x-why')).to.equal('test');
    });
  }

  it('a BYE of the caller ends the dialog of the application', async () => {
    const agent = await stage.agent();
    const { app, far } = await stage.answeredCall(agent);
    const destroyed = new Moment<string>('destroy');
    app.on('destroy', (bye: { method: string }) => destroyed.reach(bye.method));
    expect((await agent.inDialog(far, 'BYE'))?.status).to.equal(200);
    expect(await destroyed.wait(1000)).to.equal('BYE');
    expect((await agent.inDialog(far, 'BYE'))?.status, 'a second BYE').to.equal(481);
  });

  it('a BYE has the headers of the application', async () => {
    const agent = await stage.agent();
    const { app, far } = await stage.answeredCall(agent);
    const ended = app.destroy({ headers: { Reason: 'Q.850;cause=16' } });
    const bye = await agent.request('BYE');
    expect(far.receive(bye.request)).to.deep.equal([]);
    expect(header(bye.request, 'reason')).to.equal('Q.850;cause=16');
    bye.respond(200);
    await ended;
  });

  it('a CANCEL is answered with 200, the INVITE with 487, and the application gets the event', async () => {
    const agent = await stage.agent();
    const ringing = new Moment<true>('180');
    const call = agent.start('INVITE', stage.target, {
      provisional: ({ status }) => {
        if (status === 180) ringing.reach(true);
      },
    });
    const { request, response } = await stage.incoming('invite');
    const cancelled = new Moment<true>('cancel');
    request.on('cancel', () => cancelled.reach(true));
    response.send(180);
    await ringing.wait(1000);
    expect((await agent.endpoint.cancel(call).final)?.status).to.equal(200);
    expect((await call.final)?.status).to.equal(487);
    await cancelled.wait(1000);
  });

  it('responses copy Record-Route', async () => {
    const agent = await stage.agent();
    const route = `<sip:${agent.endpoint.hostPort};lr>`;
    const calling = agent.send('INVITE', stage.target, { headers: [{ name: 'Record-Route', value: route }] });
    const { response } = await stage.incoming('invite');
    response.send(486);
    await calling;
    const second = agent.start('INVITE', stage.target, { headers: [{ name: 'Record-Route', value: route }] });
    const { request, response: yes } = await stage.incoming('invite');
    const creating = stage.srf.createUAS(request, yes, { localSdp: sdp() });
    const answer = (await second.final) as SipResponse;
    expect(headerLines(answer, 'record-route')).to.deep.equal([route]);
    agent.endpoint.sendAck(ackFor(second.request, answer), agent.endpoint.peerOf(stage.target));
    const dialog = await creating;
    const ended = dialog.destroy();
    const bye = await agent.request('BYE');
    expect(headerLines(bye.request, 'route')).to.deep.equal([route]);
    bye.respond(200);
    await ended;
  });

  it('calls arrive over TCP', async () => {
    const agent = await stage.agent('tcp');
    const calling = agent.call(stage.tcpTarget);
    const { request, response } = await stage.incoming('invite');
    expect(request.protocol).to.equal('tcp');
    const dialog = await stage.srf.createUAS(request, response, { localSdp: sdp() });
    const { dialog: far } = await calling;
    const destroyed = new Moment<true>('destroy');
    dialog.on('destroy', () => destroyed.reach(true));
    expect((await agent.inDialog(far, 'BYE'))?.status).to.equal(200);
    await destroyed.wait(1000);
  });

  it('a reliable 183 is repeated until the PRACK, which the application answers', async () => {
    const agent = await stage.agent();
    const first = new Moment<SipResponse>('183');
    const call = agent.start('INVITE', stage.target, {
      headers: [
        { name: 'Supported', value: '100rel' },
        { name: 'Allow', value: 'INVITE, ACK, BYE, CANCEL, PRACK, UPDATE' },
      ],
      provisional: (response) => {
        if (response.status === 183) first.reach(response);
      },
    });
    const { request, response } = await stage.incoming('invite');
    response.send(183, { headers: { Require: '100rel' }, body: sdp(20_000) });
    const early = await first.wait(1000);
    expect(header(early, 'require')).to.equal('100rel');
    expect(header(early, 'rseq')).to.match(/^\d+$/);
    expect(header(early, 'contact')).to.equal(`<sip:${stage.hostPort}>`);
    const dialog = Dialog.ofCaller(call.request, early);
    const rack = { name: 'RAck', value: `${header(early, 'rseq')} 1 INVITE` };
    const prack = await agent.inDialog(dialog, 'PRACK', [rack]);
    expect(prack?.status).to.equal(200);
    const creating = stage.srf.createUAS(request, response, { localSdp: sdp(20_000) });
    const answer = (await call.final) as SipResponse;
    expect(answer.status).to.equal(200);
    agent.endpoint.sendAck(ackFor(call.request, answer), agent.endpoint.peerOf(stage.target));
    const made = await creating;
    const ended = made.destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });
});

/** ACK to a 2xx: Request-URI from its Contact, the tags and the CSeq number of the INVITE (RFC 3261 section 13.2.2.4). */
function ackFor(invite: { headers: readonly { name: string; value: string }[] }, answer: SipResponse) {
  const value = (name: string): string => invite.headers.find((entry) => entry.name === name)?.value ?? '';
  return {
    kind: 'request' as const,
    method: 'ACK',
    uri: /<([^>]+)>/.exec(header(answer, 'contact') ?? '')?.[1] ?? '',
    headers: [
      ...headerLines(answer, 'record-route')
        .toReversed()
        .map((route) => ({ name: 'Route', value: route })),
      { name: 'From', value: value('From') },
      { name: 'To', value: header(answer, 'to') ?? '' },
      { name: 'Call-ID', value: value('Call-ID') },
      { name: 'CSeq', value: `${value('CSeq').split(' ')[0]} ACK` },
    ],
    body: '',
  };
}
