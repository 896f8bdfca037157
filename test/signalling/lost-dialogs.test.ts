import { expect } from 'chai';
import { SipLink } from '../../runtime/signalling/link.ts';
import { Agent } from '../conformance/support/agent.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';

describe('the dialog of a node that died', () => {
  let server: HeldSipServer;
  let agent: Agent;
  const links: SipLink[] = [];

  before(async () => {
    server = await sipServer();
    agent = await Agent.open();
  });
  after(async () => {
    for (const link of links) link.close();
    await agent.close();
    await server.close();
  });

  async function node(): Promise<SipLink> {
    const handlers = { invite: () => undefined, register: () => undefined, message: () => undefined };
    const link = await SipLink.connect(server.address, handlers, silentLog);
    links.push(link);
    return link;
  }

  it('is unknown to another node: BYE gets 481', async () => {
    const first = await node();
    const call = first.invite({
      uri: agent.uri,
      callId: `lost-${process.pid}-${Date.now()}`,
      from: '<sip:alice@demo.local>',
      to: '<sip:bob@demo.local>',
      sdp: sdp(20_000),
      onProvisional: () => undefined,
    });
    const { dialog } = await agent.answer(await agent.request('INVITE'));
    await call.result;
    await node();
    first.close();
    // From the other node, when the server has noticed the end of the first.
    await eventually(async () => expect((await agent.inDialog(dialog, 'INFO'))?.status).to.equal(405));
    expect((await agent.inDialog(dialog, 'BYE'))?.status).to.equal(481);
  });
});
