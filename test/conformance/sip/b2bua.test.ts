import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { Moment } from '../../phones/wait.ts';
import { sdp } from '../support/sdp.ts';
import type { Dialog, Request, Response } from '../support/srf.ts';
import { useSipStage } from '../support/stage.ts';

describe('Conformance, SIP server: back-to-back user agent and proxy', () => {
  const stage = useSipStage();

  const connect = async () => {
    const [caller, called] = [await stage.agent(), await stage.agent()];
    const calling = caller.call(stage.target);
    const { request, response } = await stage.incoming('invite');
    const making = stage.srf.createB2BUA(request, response, called.uri);
    const invite = await called.request('INVITE');
    expect(invite.request.body, 'the offer goes through').to.equal(request.body);
    const { dialog: farB } = await called.answer(invite, sdp(43_000));
    const { dialog: farA, answer } = await calling;
    expect(answer.body, 'the answer goes through').to.equal(sdp(43_000));
    return { caller, called, farA, farB, ...(await making) };
  };

  it('two calls are joined, and each BYE ends the other', async () => {
    const { caller, called, farA, uac, uas } = await connect();
    const other = new Moment<Dialog>('BYE of the caller');
    uas.on('destroy', () => other.reach(uac));
    expect((await caller.inDialog(farA, 'BYE'))?.status).to.equal(200);
    const ended = (await other.wait(1000)).destroy();
    (await called.request('BYE')).respond(200);
    await ended;
  });

  it('a re-INVITE for hold passes from one side to the other', async () => {
    const { caller, called, farA, uac, uas } = await connect();
    uas.on('modify', (request: Request, response: Response) => {
      void uac.modify(request.body).then((body) => response.send(200, { body }));
    });
    const holding = caller.inDialog(farA, 'INVITE', [], sdp(41_000, 2, 'sendonly'));
    const invite = await called.request('INVITE');
    expect(invite.request.body).to.equal(sdp(41_000, 2, 'sendonly'));
    const type = { name: 'Content-Type', value: 'application/sdp' };
    invite.respond(200, { headers: [called.contact, type], body: sdp(43_000, 2, 'recvonly') });
    const answer = await holding;
    expect(answer?.body).to.equal(sdp(43_000, 2, 'recvonly'));
    caller.endpoint.sendAck(farA.request('ACK', [], '', farA.lastCSeq), caller.endpoint.peerOf(farA.nextHop));
    const ended = Promise.all([uas.destroy(), uac.destroy()]);
    for (const agent of [caller, called]) (await agent.request('BYE')).respond(200);
    await ended;
  });

  it('a refusal of the called side reaches the caller', async () => {
    const [caller, called] = [await stage.agent(), await stage.agent()];
    const calling = caller.send('INVITE', stage.target);
    const { request, response } = await stage.incoming('invite');
    const failing = stage.srf.createB2BUA(request, response, called.uri).then(
      () => undefined,
      (error: unknown) => (error as { status?: number }).status,
    );
    (await called.request('INVITE')).respond(486);
    expect(await failing).to.equal(486);
    expect((await calling)?.status).to.equal(486);
  });

  it('a CANCEL of the caller cancels the called side', async () => {
    const [caller, called] = [await stage.agent(), await stage.agent()];
    const ringing = new Moment<true>('180');
    const calling = caller.start('INVITE', stage.target, {
      provisional: ({ status }) => {
        if (status === 180) ringing.reach(true);
      },
    });
    const { request, response } = await stage.incoming('invite');
    const failing = stage.srf.createB2BUA(request, response, called.uri).then(
      () => undefined,
      (error: unknown) => (error as { status?: number }).status,
    );
    const invite = await called.request('INVITE');
    invite.respond(180, { headers: [called.contact] });
    await ringing.wait(1000);
    const cancel = caller.endpoint.cancel(calling);
    expect((await cancel.final)?.status).to.equal(200);
    expect(await called.cancelled()).to.equal(invite);
    invite.respond(487);
    expect((await calling.final)?.status).to.equal(487);
    expect(await failing).to.equal(487);
  });

  it('two phones ring at once; one answers, the other is cancelled', async () => {
    const [caller, slow, fast] = [await stage.agent(), await stage.agent(), await stage.agent()];
    const calling = caller.call(stage.target);
    const { request, response } = await stage.incoming('invite');
    const sent = new Map<string, Request>();
    const legs = [slow, fast].map((agent) =>
      stage.srf.createUAC(
        agent.uri,
        { localSdp: request.body },
        { cbRequest: (_err, invite) => void sent.set(agent.uri, invite) },
      ),
    );
    const atSlow = await slow.request('INVITE');
    atSlow.respond(180, { headers: [slow.contact] });
    const { dialog: farB } = await fast.answer(await fast.request('INVITE'), sdp(43_000));
    const uac = await Promise.any(legs);
    const uas = await stage.srf.createUAS(request, response, { localSdp: uac.remote.sdp });
    expect((await calling).answer.body).to.equal(sdp(43_000));
    sent.get(slow.uri)?.cancel();
    expect(await slow.cancelled()).to.equal(atSlow);
    atSlow.respond(487);
    const outcome = await legs[0]?.catch((error: unknown) => (error as { status?: number }).status);
    expect(outcome).to.equal(487);
    const ended = Promise.all([uas.destroy(), uac.destroy()]);
    const bye = await fast.request('BYE');
    expect(farB.receive(bye.request)).to.deep.equal([]);
    bye.respond(200);
    (await caller.request('BYE')).respond(200);
    await ended;
  });

  it('a proxied call continues without the application, through Record-Route', async () => {
    const [caller, called] = [await stage.agent(), await stage.agent()];
    const calling = caller.call(stage.target);
    const { request } = await stage.incoming('invite');
    const proxying = stage.srf.proxyRequest(request, called.uri, { recordRoute: true, remainInDialog: true });
    const invite = await called.request('INVITE');
    expect(header(invite.request, 'record-route')).to.match(new RegExp(`<sip:${stage.hostPort}(;transport=udp)?;lr>`));
    expect(header(invite.request, 'max-forwards')).to.equal('69');
    expect(header(invite.request, 'via')?.split(',')[0]).to.include('SIP/2.0/UDP 127.0.0.1');
    const { dialog: farB } = await called.answer(invite, sdp(43_000));
    const { dialog: farA, answer } = await calling;
    expect(answer.body).to.equal(sdp(43_000));
    await proxying;
    const bye = caller.inDialog(farA, 'BYE');
    const atCalled = await called.request('BYE');
    expect(farB.receive(atCalled.request)).to.deep.equal([]);
    atCalled.respond(200);
    expect((await bye)?.status).to.equal(200);
  });
});
