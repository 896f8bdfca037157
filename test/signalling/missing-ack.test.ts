import { expect } from 'chai';
import type { IncomingInvite } from '../../runtime/signalling/incoming-invite.ts';
import { SipLink } from '../../runtime/signalling/link.ts';
import { Agent } from '../conformance/support/agent.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { sipServer } from '../conformance/support/servers.ts';
import { header } from '../phones/sip/message.ts';
import { silentLog } from '../support/log.ts';

describe('a call whose caller never sends ACK', () => {
  it('is lost: nobody hung up', async function () {
    this.timeout(60_000);
    const server = await sipServer({ t1: 50 });
    const end = Promise.withResolvers<{ reason: string; lost: boolean }>();
    const invite = async (incoming: IncomingInvite): Promise<void> => {
      const dialog = await incoming.accept(sdp(20_000));
      dialog.handle({
        ended: (reason, lost) => end.resolve({ reason, lost }),
        reinvite: async () => ({ status: 488 }),
        answerInAck: () => undefined,
        messaged: () => undefined,
        refer: () => ({ status: 603 }),
      });
    };
    const handlers = { invite, register: () => undefined, message: () => undefined };
    const link = await SipLink.connect(server.address, handlers, silentLog);
    const agent = await Agent.open();
    try {
      const target = await contactOf(link, agent);
      const call = agent.start('INVITE', target);
      expect((await call.final)?.status).to.equal(200);
      (await agent.request('BYE', server.timeoutMs * 2)).respond(200);
      expect(await end.promise).to.deep.equal({ reason: 'ACK timeout', lost: true });
    } finally {
      link.close();
      await agent.close();
      await server.close();
    }
  });
});

/** The SIP server, as it names itself to those that it calls. */
async function contactOf(link: SipLink, agent: Agent): Promise<string> {
  const call = link.invite({
    uri: agent.uri,
    callId: `missing-ack-${process.pid}-${Date.now()}`,
    from: '<sip:alice@demo.local>',
    to: '<sip:bob@demo.local>',
    sdp: sdp(20_000),
    onProvisional: () => undefined,
  });
  const incoming = await agent.request('INVITE');
  incoming.respond(486);
  await call.result;
  return /<([^>]+)>/.exec(header(incoming.request, 'contact') ?? '')?.[1] ?? '';
}
