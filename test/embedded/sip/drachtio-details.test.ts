import { expect } from 'chai';
import type { SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { RawNode } from './raw-node.ts';

/** Details of drachtio-server that the RFCs alone do not suggest. */
describe('embedded SIP server: details observed on drachtio-server', () => {
  let node: RawNode;
  afterEach(() => node.close());

  /** A call from the phone, answered by the application and acknowledged. */
  async function answered(contact: readonly string[]): Promise<{ id: string; tag: string }> {
    await node.say('INVITE', contact, { cseq: 17 });
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const echo = await node.frame();
    const tag = (await node.heard('200')).toTag ?? '';
    await node.say('ACK', [], { branch: 'ack', to: tag, cseq: 17 });
    await node.frame();
    return { id: echo.fields[11] ?? '', tag };
  }

  async function called(answer: readonly string[]): Promise<{ invite: SipRequest; id: string }> {
    node.app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\n\r\n`);
    const invite = (await node.heard('INVITE')) as SipRequest;
    await node.answer(invite, '200 OK', 'bob', answer);
    await node.frame();
    return { invite, id: (await node.frame()).fields[9] ?? '' };
  }

  it("the called side's requests continue the CSeq of the INVITE", async () => {
    node = await RawNode.start(['invite']);
    const { id } = await answered([`Contact: <sip:alice@127.0.0.1:${node.phone.port}>`]);
    node.app.send(`2|sip||${id}\r\nINFO sip:placeholder SIP/2.0\r\n\r\n`);
    expect((await node.heard('INFO')).cseq.number).to.equal(18);
  });

  it('an INVITE without Contact reaches the application, but requests of its dialog have no target', async () => {
    node = await RawNode.start(['invite']);
    const { id } = await answered([]);
    node.app.send(`2|sip||${id}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const refusal = `|NOK|Server error: unable to find route when sending request inside dialog for dialog id ${id}`;
    expect((await node.frame()).text).to.contain(refusal);
  });

  it('an INVITE with an invalid Contact is refused', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', ['Contact: <nothing']);
    await node.heard('400');
  });

  it('a 200 without Contact gets no ACK', async () => {
    node = await RawNode.start([]);
    const { id } = await called([]);
    node.app.send(`2|sip||${id}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    expect((await node.frame()).text).to.contain('|NOK|Server error: unable to find route');
  });

  it("a response has one RSeq, the server's own, when the application copies one", async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', ['Contact: <sip:alice@127.0.0.1>', 'Supported: 100rel']);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 180 Ringing\r\nRequire: 100rel\r\nRSeq: 7\r\n\r\n`);
    const ringing = await node.heard('180');
    expect(ringing.headers.filter(({ key }) => key === 'rseq')).to.have.length(1);
    await node.say('PRACK', [`RAck: ${ringing.header('rseq')} 1 INVITE`], { to: ringing.toTag ?? '', cseq: 2 });
    await node.frame();
    expect((await node.frame()).message).to.have.property('method', 'PRACK');
  });

  it('an RSeq without a requirement waits for no PRACK', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', ['Contact: <sip:alice@127.0.0.1>']);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 180 Ringing\r\nRSeq: 7\r\n\r\n`);
    await node.heard('180');
    expect(await node.phone.inbox.take(300)).to.equal(undefined);
  });

  it('To, Refer-To and Referred-By are in angle brackets', async () => {
    node = await RawNode.start([]);
    const address = 'sip:carol@example.com';
    const headers = `To: ${address}\r\nRefer-To: ${address}\r\nReferred-By: ${address};x=1\r\n`;
    node.app.send(`1|sip||\r\nREFER sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\n${headers}\r\n`);
    const refer = await node.heard('REFER');
    expect(refer.header('to')).to.equal(`<${address}>`);
    expect(refer.header('refer-to')).to.equal(`<${address}>`);
    expect(refer.header('referred-by')).to.equal(`<${address}>;x=1`);
  });

  it('an UPDATE and its answer get no Contact', async () => {
    node = await RawNode.start([]);
    const { id, invite } = await called([`Contact: <sip:bob@127.0.0.1:${node.phone.port}>`]);
    node.app.send(`2|sip||${id}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    await node.heard('ACK');
    await node.frame();
    node.app.send(`3|sip||${id}\r\nUPDATE sip:placeholder SIP/2.0\r\n\r\n`);
    expect((await node.heard('UPDATE')).has('contact')).to.equal(false);
    await node.frame();
    const lines = [
      `UPDATE sip:127.0.0.1:${node.port} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${node.phone.port};branch=z9hG4bK-update`,
      `From: ${invite.header('to')};tag=bob`,
      `To: ${invite.header('from')}`,
      `Call-ID: ${invite.callId}`,
      'CSeq: 1 UPDATE',
    ];
    await node.phone.sendUdp(`${lines.join('\r\n')}\r\n\r\n`, node.port);
    const { fields, text } = await node.frame();
    expect(text, 'shown as it came').not.to.contain('Content-Length');
    node.app.send(`4|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    expect((await node.heard('200')).has('contact')).to.equal(false);
  });
});
