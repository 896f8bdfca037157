import { expect } from 'chai';
import { SipPeer } from './sip-peers.ts';
import { RawNode } from './raw-node.ts';
import { startNode, until } from './srf-client.ts';
import { parseMessage } from '../../../runtime/embedded/stack/index.ts';

describe('closing the embedded SIP server', () => {
  it('drops the timers of subscriptions and of calls without an application', async () => {
    const node = await RawNode.start(['invite', 'subscribe']);
    await node.say('INVITE', [`Contact: <sip:alice@127.0.0.1:${node.phone.port}>`]);
    const invite = await node.frame();
    node.app.send(`1|sip|${invite.fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    await node.frame();
    const to = (await node.heard('200')).toTag ?? '';
    await node.say('ACK', [], { branch: 'ack', to });
    await node.frame();
    node.app.destroy();
    await until(() => node.server.stats.apps === 0, 'no application');
    expect(node.server.stats).to.include({ dialogs: 1 });
    expect(node.server.stats.timers).to.be.greaterThan(0);
    await node.close();
    expect(node.server.stats.timers).to.equal(0);
  });

  it('ends its thread at once despite a subscription', async () => {
    const node = await startNode();
    const phone = await SipPeer.open('127.0.0.1', 0);
    const options = { method: 'SUBSCRIBE', headers: { Event: 'presence', Expires: '600' } };
    const subscribing = node.srf.createUAC(`sip:bob@127.0.0.1:${phone.port}`, options);
    const subscribe = parseMessage(Buffer.from((await phone.inbox.take(2000)) ?? '', 'latin1'));
    const answer = [
      'SIP/2.0 200 OK',
      `Via: ${subscribe.header('via')}`,
      `From: ${subscribe.header('from')}`,
      `To: ${subscribe.header('to')};tag=t`,
      `Call-ID: ${subscribe.callId}`,
      `CSeq: ${subscribe.header('cseq')}`,
      `Contact: <sip:bob@127.0.0.1:${phone.port}>`,
      'Expires: 600',
      'Content-Length: 0',
    ];
    await phone.sendUdp(`${answer.join('\r\n')}\r\n\r\n`, Number(node.sip.split(':')[1]));
    await subscribing;
    const started = performance.now();
    await node.close();
    // Well below the bound after which the thread is terminated.
    expect(performance.now() - started).to.be.lessThan(2500);
    expect(await node.server.exited).to.equal(undefined);
    phone.close();
  });
});
