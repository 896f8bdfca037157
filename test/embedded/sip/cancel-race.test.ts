import { expect } from 'chai';
import { AppClient } from './app-client.ts';
import { RawNode } from './raw-node.ts';
import { until } from './srf-client.ts';

const REASON = 'SIP;cause=200;text="ACK-BYE due to cancel race condition"';

describe('a 200 that crosses the CANCEL', () => {
  let node: RawNode;
  afterEach(() => node.close());

  async function ring(): Promise<{ invite: Awaited<ReturnType<RawNode['heard']>>; transactionId: string }> {
    node.app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\n\r\n`);
    const invite = await node.heard('INVITE');
    const { fields } = await node.frame();
    await node.answer(invite, '180 Ringing', 't', [contact()]);
    await node.frame();
    return { invite, transactionId: fields[10] ?? '' };
  }

  const contact = (): string => `Contact: <sip:bob@127.0.0.1:${node.phone.port}>`;

  it('is acknowledged by the application; then the server sends BYE and reports it', async () => {
    node = await RawNode.start([]);
    const { invite, transactionId } = await ring();
    node.app.send(`2|sip|${transactionId}|\r\nCANCEL sip:placeholder SIP/2.0\r\n\r\n`);
    await node.frame();
    await node.answer(await node.heard('CANCEL'), '200 OK', 't');
    await node.answer(invite, '200 OK', 't', [contact()]);
    const ok = await node.frame();
    expect(ok.message).to.have.property('status', 200);
    const dialogId = ok.fields[9];
    node.app.send(`3|sip||${dialogId}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    await node.heard('ACK');
    const bye = await node.heard('BYE');
    expect(bye.header('reason')).to.equal(REASON);
    expect((await node.frame()).message).to.have.property('method', 'ACK');
    const told = await node.frame();
    expect(told.fields.slice(8, 10)).to.deep.equal(['unsolicited', dialogId]);
    expect(told.message).to.have.property('method', 'BYE');
    await node.answer(bye, '200 OK', 't');
    node.app.send(`4|sip||${dialogId}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    expect((await node.frame()).text).to.contain('|response|4|NOK|Server error: unable to find dialog');
    await until(() => node.server.stats.dialogs + node.server.stats.pending === 0, 'nothing left');
  });

  it('is ended when its application is gone, even if a similar one is connected', async () => {
    node = await RawNode.start([]);
    const other = await AppClient.connect(node.server.addresses.app);
    await node.login(other, []);
    const { invite } = await ring();
    node.app.destroy();
    await node.heard('CANCEL');
    await node.answer(invite, '200 OK', 't', [contact()]);
    await node.heard('ACK');
    await node.answer(await node.heard('BYE'), '200 OK', 't');
    await until(() => node.server.stats.dialogs === 0, 'no dialog');
    other.destroy();
  });
});
