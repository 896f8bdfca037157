import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import type { SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { RawNode } from './raw-node.ts';
import { until } from './srf-client.ts';

/** SIP of real phones and proxies: NAT, TCP connections, routes and forks. */
describe('embedded SIP server with NAT, TCP, routes and forks', () => {
  let node: RawNode;
  afterEach(() => node.close());

  /** The phone calls and the application answers; returns the dialog id and the application's tag. */
  async function answeredCall(
    contact: string,
    extra: readonly string[] = [],
  ): Promise<{ dialogId: string; tag: string }> {
    await node.say('INVITE', [`Contact: <${contact}>`, ...extra]);
    const invite = await node.frame();
    node.app.send(`1|sip|${invite.fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const echo = await node.frame();
    const ok = await node.heard('200');
    await node.say('ACK', [], { branch: 'ack', to: ok.toTag ?? '' });
    await node.frame();
    return { dialogId: echo.fields[11] ?? '', tag: ok.toTag ?? '' };
  }

  it('reaches a phone behind TCP over the connection of its registration', async () => {
    node = await RawNode.start(['register']);
    const { phone, app, port } = node;
    const register = `REGISTER sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 10.0.0.9;branch=z9hG4bKr\r\nFrom: <sip:alice@x>;tag=1\r\nTo: <sip:alice@x>\r\nCall-ID: reg\r\nCSeq: 1 REGISTER\r\nContact: <sip:alice@10.0.0.9;transport=tcp>\r\nContent-Length: 0\r\n\r\n`;
    await phone.sendTcp(register, port);
    const { fields, message } = await node.frame();
    expect(message?.topVia.params.get('received')).to.equal('127.0.0.1');
    app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    await node.frame();
    await node.heard('200');
    // The phone has closed its port: only its own connection reaches it.
    app.send(
      `2|sip||\r\nMESSAGE sip:alice@${fields[5]}:${fields[6]};transport=tcp SIP/2.0\r\nContent-Type: text/plain\r\n\r\nhi`,
    );
    const request = await node.heard('MESSAGE');
    expect(request.body.toString()).to.equal('hi');
    expect(node.server.stats.sockets).to.equal(3);
  });

  it('answers CRLF keep-alives over TCP and ignores those over UDP', async () => {
    node = await RawNode.start(['options']);
    for (const keepAlive of ['', '\r\n', '\r\n\r\n', '\0\0\0\0']) await node.phone.sendUdp(keepAlive, node.port);
    await node.phone.sendTcp('\r\n\r\n', node.port);
    await until(() => node.phone.bytes === '\r\n', 'pong');
    await node.say('OPTIONS');
    expect((await node.frame()).message).to.have.property('method', 'OPTIONS');
  });

  it('sends in-dialog requests to the source address of a phone behind NAT', async () => {
    node = await RawNode.start(['invite']);
    const { dialogId } = await answeredCall('sip:alice@10.1.2.3:5062');
    node.app.send(`2|sip||${dialogId}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const bye = (await node.heard('BYE')) as SipRequest;
    expect(bye.uri).to.equal('sip:alice@10.1.2.3:5062');
  });

  it('follows a phone behind NAT whose port changes within the call', async () => {
    node = await RawNode.start(['invite']);
    const { dialogId, tag } = await answeredCall('sip:alice@10.1.2.3:5062');
    const moved = createSocket('udp4').bind(0, '127.0.0.1');
    try {
      await once(moved, 'listening');
      const info = [
        `INFO sip:service@127.0.0.1:${node.port} SIP/2.0`,
        'Via: SIP/2.0/UDP 10.1.2.3:5062;branch=z9hG4bK-moved;rport',
        'From: <sip:alice@127.0.0.1>;tag=alice1',
        `To: <sip:service@127.0.0.1>;tag=${tag}`,
        'Call-ID: call-1',
        'CSeq: 2 INFO',
        'Content-Length: 0',
      ];
      moved.send(`${info.join('\r\n')}\r\n\r\n`, node.port, '127.0.0.1');
      await node.frame();
      const arrived = once(moved, 'message');
      node.app.send(`2|sip||${dialogId}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
      expect(String((await arrived)[0])).to.match(/^BYE sip:alice@10\.1\.2\.3:5062 /);
    } finally {
      moved.close();
    }
  });

  it('sends in-dialog requests along the recorded route', async () => {
    node = await RawNode.start(['invite']);
    const route = `<sip:127.0.0.1:${node.phone.port};lr>`;
    const { dialogId } = await answeredCall('sip:alice@192.0.2.1', [`Record-Route: ${route}, <sip:far.example;lr>`]);
    node.app.send(`2|sip||${dialogId}\r\nINFO sip:placeholder SIP/2.0\r\n\r\n`);
    const info = (await node.heard('INFO')) as SipRequest;
    expect(info.uri).to.equal('sip:alice@192.0.2.1');
    expect(info.values('route')).to.deep.equal([route, '<sip:far.example;lr>']);
  });

  it('copies Record-Route into answers and rewrites requests for strict routers', async () => {
    node = await RawNode.start(['invite']);
    const route = `<sip:127.0.0.1:${node.phone.port}>`;
    await node.say('INVITE', ['Contact: <sip:alice@192.0.2.1>', `Record-Route: ${route}`]);
    const invite = await node.frame();
    node.app.send(`1|sip|${invite.fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const ok = await node.heard('200');
    expect(ok.values('record-route')).to.deep.equal([route]);
    const echo = await node.frame();
    node.app.send(`2|sip||${echo.fields[11]}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const bye = (await node.heard('BYE')) as SipRequest;
    expect(bye.uri).to.equal(`sip:127.0.0.1:${node.phone.port}`);
    expect(bye.values('route')).to.deep.equal(['<sip:alice@192.0.2.1>']);
  });

  it('passes session timer headers both ways', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', [
      'Contact: <sip:alice@127.0.0.1>',
      'Supported: timer',
      'Session-Expires: 90;refresher=uac',
      'Min-SE: 90',
    ]);
    const { fields, message } = await node.frame();
    expect(message?.header('session-expires')).to.equal('90;refresher=uac');
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\nx: 90;refresher=uac\r\nRequire: timer\r\n\r\n`);
    const ok = await node.heard('200');
    expect(ok.headers.some(({ name }) => name === 'Session-Expires')).to.equal(true);
    expect(ok.header('require')).to.equal('timer');
  });

  it('keeps several early dialogs apart, and hangs up on a late answer of a fork', async () => {
    node = await RawNode.start([]);
    const { app, phone } = node;
    app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${phone.port} SIP/2.0\r\nSupported: 100rel\r\n\r\n`);
    const invite = (await node.heard('INVITE')) as SipRequest;
    await node.frame();
    const contact = (user: string): string => `Contact: <sip:${user}@127.0.0.1:${phone.port}>`;
    await node.answer(invite, '183 Session Progress', 'tagA', [contact('a'), 'Require: 100rel', 'RSeq: 17']);
    await node.answer(invite, '183 Session Progress', 'tagA', [contact('a'), 'Require: 100rel', 'RSeq: 17']);
    await node.answer(invite, '180 Ringing', 'tagB', [contact('b')]);
    const first = await node.frame();
    const second = await node.frame();
    // The repeated 183 is absorbed.
    expect([first.message?.toTag, second.message?.toTag]).to.deep.equal(['tagA', 'tagB']);
    app.send(
      `2|sip||${first.fields[9]}\r\nPRACK sip:placeholder SIP/2.0\r\nRAck: 17 ${invite.cseq.number} INVITE\r\n\r\n`,
    );
    const prack = (await node.heard('PRACK')) as SipRequest;
    expect(prack.toTag).to.equal('tagA');
    expect(prack.uri).to.equal(`sip:a@127.0.0.1:${phone.port}`);
    await node.answer(prack, '200 OK', 'tagA');
    await node.answer(invite, '200 OK', 'tagB', [contact('b')]);
    await node.frame();
    await node.frame();
    const ok = await node.frame();
    expect(ok.message?.toTag).to.equal('tagB');
    app.send(`3|sip||${ok.fields[9]}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    expect((await node.heard('ACK')).toTag).to.equal('tagB');
    await node.answer(invite, '200 OK', 'tagA', [contact('a')]);
    expect((await node.heard('ACK')).toTag).to.equal('tagA');
    const bye = (await node.heard('BYE')) as SipRequest;
    expect(bye.toTag).to.equal('tagA');
    await node.answer(bye, '200 OK', 'tagA');
  });

  it('acknowledges a reliable response at the address that it came from, if the Contact is private', async () => {
    node = await RawNode.start([]);
    node.app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\nSupported: 100rel\r\n\r\n`);
    const invite = (await node.heard('INVITE')) as SipRequest;
    await node.frame();
    const contact = 'sip:bob@10.1.2.3:5062';
    await node.answer(invite, '180 Ringing', 't', [`Contact: <${contact}>`, 'Require: 100rel', 'RSeq: 17']);
    const { fields } = await node.frame();
    node.app.send(`2|sip||${fields[9]}\r\nPRACK sip:placeholder SIP/2.0\r\nRAck: 17 1 INVITE\r\n\r\n`);
    expect(((await node.heard('PRACK')) as SipRequest).uri).to.equal(contact);
  });

  it('repeats the ACK for a repeated 2xx', async () => {
    node = await RawNode.start([]);
    node.app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\n\r\n`);
    const invite = await node.heard('INVITE');
    const contact = `Contact: <sip:b@127.0.0.1:${node.phone.port}>`;
    await node.answer(invite, '200 OK', 't', [contact]);
    await node.frame();
    const ok = await node.frame();
    node.app.send(`2|sip||${ok.fields[9]}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    const ack = await node.heard('ACK');
    await node.answer(invite, '200 OK', 't', [contact]);
    expect((await node.heard('ACK')).toBuffer().equals(ack.toBuffer())).to.equal(true);
  });

  it('rejects an INVITE without PRACK for its reliable response, and reports to the application', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', ['Contact: <sip:alice@127.0.0.1>', 'Supported: 100rel']);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 183 Session Progress\r\nRequire: 100rel\r\n\r\n`);
    await node.frame();
    await node.heard('504', 4000);
    const told = await node.frame();
    expect(told.fields[8]).to.equal(fields[8]);
    expect(told.message).to.have.property('method', 'CANCEL');
    node.app.send(`2|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    expect((await node.frame()).text).to.contain('NOK|Response not sent due to unknown transaction');
  });

  it('answers 481 to a PRACK without a match and 500 to a decreasing CSeq', async () => {
    node = await RawNode.start(['invite']);
    const { tag } = await answeredCall('sip:alice@127.0.0.1');
    await node.say('PRACK', ['RAck: 1 1 INVITE'], { to: tag, cseq: 9 });
    await node.heard('481');
    await node.say('INFO', [], { to: tag, cseq: 3 });
    await node.heard('500');
  });

  it('answers unknown methods with 501 and known ones without a route with 503', async () => {
    node = await RawNode.start([]);
    await node.say('FOO');
    await node.heard('501');
    await node.say('MESSAGE');
    await node.heard('503');
  });
});
