import { expect } from 'chai';
import { SipLink } from '../../runtime/signalling/link.ts';
import { Agent } from '../conformance/support/agent.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import { silentLog } from '../support/log.ts';

const HANDLERS = { invite: () => undefined, register: () => undefined, message: () => undefined };

describe('cancelled offers within a call', () => {
  let server: HeldSipServer;
  let link: SipLink;
  let agent: Agent;

  before(async () => {
    server = await sipServer({ t1: 50 });
    link = await SipLink.connect(server.address, HANDLERS, silentLog);
    agent = await Agent.open();
  });
  after(async () => {
    await agent.close();
    link.close();
    await server.close();
  });

  it('that came before anybody listened are not taken; the next one is', async () => {
    const { result } = link.invite({
      uri: agent.uri,
      callId: `cancelled-${process.pid}-${Date.now()}`,
      from: '<sip:alice@demo.local>',
      to: '<sip:bob@demo.local>',
      sdp: sdp(20_000),
      onProvisional: () => undefined,
    });
    const invite = await agent.request('INVITE');
    const { dialog: theirs } = await agent.answer(invite);
    const answered = await result;
    if (!answered.answered) throw new Error(answered.answer.line);

    const trying = Promise.withResolvers<unknown>();
    const headers = [agent.contact, { name: 'Content-Type', value: 'application/sdp' }];
    const reinvite = theirs.request('INVITE', headers, sdp(41_002));
    const { endpoint } = agent;
    const offered = endpoint.send(reinvite, endpoint.peerOf(theirs.nextHop), { provisional: trying.resolve });
    await trying.promise;
    expect((await endpoint.cancel(offered).final)?.status).to.equal(200);
    expect((await offered.final)?.status).to.equal(487);
    // The application has seen the CANCEL when it answers this.
    expect((await agent.inDialog(theirs, 'INFO'))?.status).to.equal(200);

    const taken: (string | undefined)[] = [];
    answered.dialog.handle({
      ended: () => undefined,
      reinvite: async (offer) => {
        taken.push(offer);
        return { status: 200, sdp: sdp(20_000, 2) };
      },
      answerInAck: () => undefined,
      messaged: () => undefined,
      refer: () => ({ status: 603 }),
    });
    expect((await agent.inDialog(theirs, 'UPDATE', [], sdp(41_004, 3)))?.status).to.equal(200);
    expect(taken).to.deep.equal([sdp(41_004, 3)]);

    const bye = answered.dialog.bye();
    (await agent.request('BYE')).respond(200);
    await bye;
    expect(agent.violations).to.deep.equal([]);
  });
});
