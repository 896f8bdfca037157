import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Impairment } from '../phones/sip/transport.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

describe('a network that is not perfect', () => {
  const stage = useStage();

  it('may double every datagram', async () => {
    const twice: { impair: Impairment } = { impair: () => 2 };
    const alice = await stage.phone('alice', twice);
    const bob = await stage.phone('bob', twice);
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    expect(bob.waitingCalls).to.equal(0);
    await expectTalk(outgoing, incoming);
    await outgoing.hold();
    await outgoing.unhold();
    await incoming.hangup();
    expect((await outgoing.ended()).by).to.equal('there');
  });

  it('may lose every third datagram in each direction', async function () {
    this.timeout(60_000);
    const lossy: { impair: Impairment } = { impair: (_, number) => (number % 3 === 0 ? 0 : 1) };
    const alice = await stage.phone('alice', lossy);
    const bob = await stage.phone('bob', lossy);
    const outgoing = await alice.call('102');
    const incoming = await bob.incoming(10_000);
    await incoming.answer(15_000);
    await outgoing.answered(15_000);
    await expectTalk(outgoing, incoming);
    await outgoing.hangup();
    expect((await incoming.ended(15_000)).by).to.equal('there');
  });

  it('may bring what is no SIP, without harm to the calls', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const port = Number(stage.node.sip.split(':')[1]);
    const noise = [
      '',
      '\r\n\r\n',
      'hello',
      'INVITE',
      `INVITE sip:x SIP/2.0\r\nVia: ${'x'.repeat(3000)}\r\n\r\n`,
      '\0\xff',
    ];
    const udp = createSocket('udp4');
    for (const text of noise) udp.send(Buffer.from(text, 'latin1'), port, '127.0.0.1');
    const tcp = connect(port, '127.0.0.1');
    await once(tcp, 'connect');
    tcp.on('error', () => tcp.destroy());
    for (const text of noise) tcp.write(text, 'latin1');
    await expectTalk(outgoing, incoming);
    udp.close();
    tcp.destroy();
    await outgoing.hangup();
    await incoming.ended();
  });

  it('may take a phone away: the next call to it fails, and others go on', async function () {
    this.timeout(60_000);
    const alice = await stage.phone('alice');
    const gone = await stage.phone('bob', { transport: 'tcp' });
    await gone.stop({ abruptly: true });
    const call = await alice.call('102');
    expect((await call.refused(40_000)).status).to.be.oneOf([408, 480, 503]);
    const back = await stage.phone('bob');
    await back.register({ contact: '*', expires: 0 });
  });
});
