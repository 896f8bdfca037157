import { expect } from 'chai';
import { SipLink } from '../../runtime/signalling/link.ts';
import type { SipDialog } from '../../runtime/signalling/sip-dialog.ts';
import { Agent } from '../conformance/support/agent.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import { Dialog } from '../phones/sip/dialog.ts';
import { silentLog } from '../support/log.ts';

const HANDLERS = { invite: () => undefined, register: () => undefined, message: () => undefined };

describe('crossing offers of both sides', () => {
  let server: HeldSipServer;
  let link: SipLink;
  let agent: Agent;
  let ours: SipDialog;
  let theirs: Dialog;
  /** What UPDATEs were answered with while it rang, one without an offer and one with. */
  let early: readonly unknown[];
  /** Offers of the far end that were taken. */
  let taken: number;

  before(async () => {
    server = await sipServer({ t1: 50 });
    link = await SipLink.connect(server.address, HANDLERS, silentLog);
  });
  after(async () => {
    link.close();
    await server.close();
  });

  beforeEach(async () => {
    taken = 0;
    agent = await Agent.open();
    const { result } = link.invite({
      uri: agent.uri,
      callId: `crossing-${process.pid}-${Date.now()}`,
      from: '<sip:alice@demo.local>',
      to: '<sip:bob@demo.local>',
      sdp: sdp(20_000),
      onProvisional: () => undefined,
    });
    const invite = await agent.request('INVITE');
    invite.respond(180, { headers: [agent.contact] });
    theirs = Dialog.ofCalled(invite.request, invite.localTag, agent.uri);
    early = [
      (await agent.inDialog(theirs, 'UPDATE'))?.status,
      (await agent.inDialog(theirs, 'UPDATE', [], sdp(41_000)))?.status,
    ];
    const headers = [agent.contact, { name: 'Content-Type', value: 'application/sdp' }];
    invite.respond(200, { headers, body: sdp(41_000) });
    await invite.acked;
    const answered = await result;
    if (!answered.answered) throw new Error(answered.answer.line);
    ours = answered.dialog;
    ours.handle({
      ended: () => undefined,
      reinvite: async () => {
        taken += 1;
        return { status: 200, sdp: sdp(20_000, 2) };
      },
      answerInAck: () => undefined,
      messaged: () => undefined,
      refer: () => ({ status: 603 }),
    });
  });
  afterEach(async () => {
    const bye = ours.bye();
    (await agent.request('BYE')).respond(200);
    await bye;
    expect(agent.violations).to.deep.equal([]);
    await agent.close();
  });

  it('are refused with 500 while our first one is unanswered (RFC 3311 section 5.2)', () => {
    expect(early).to.deep.equal([200, 500]);
  });

  it('are both refused with 491; ours is repeated after theirs', async () => {
    const changed = ours.reinvite(sdp(20_000, 3));
    const first = await agent.request('INVITE');
    first.respond(100);
    for (const method of ['INVITE', 'UPDATE']) {
      expect((await agent.inDialog(theirs, method, [], sdp(41_000, 2)))?.status, method).to.equal(491);
    }
    first.respond(491);
    // Whoever made the Call-ID waits for at least 2.1 seconds, the other for 2 at most (RFC 3261 section 14.1).
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await agent.inDialog(theirs, 'UPDATE', [], sdp(41_000, 3)))?.status).to.equal(200);
    const again = await agent.request('INVITE', 5000);
    const headers = [agent.contact, { name: 'Content-Type', value: 'application/sdp' }];
    again.respond(200, { headers, body: sdp(41_000, 4) });
    expect(await changed).to.equal(sdp(41_000, 4));
    await again.acked;
    expect(taken).to.equal(1);
  });
});
