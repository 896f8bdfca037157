import { expect } from 'chai';
import type { Protocol } from '../phones/sip/transport.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectCleanRtp, expectTalk } from './expectations.ts';

describe('calls between phones', () => {
  const stage = useStage();

  for (const [what, target] of [
    ['phone number', '102'],
    ['login', 'bob'],
  ] as const) {
    it(`a call by ${what} connects both phones, which hear each other`, async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, target);
      await expectTalk(outgoing, incoming);
      await outgoing.hangup();
      expect((await incoming.ended()).by).to.equal('there');
      expectCleanRtp(outgoing, incoming);
    });
  }

  it('the called phone sees the number and name of the caller', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { incoming } = await stage.connect(alice, bob, '102');
    expect(incoming.callerId).to.equal('101');
    expect(incoming.callerName).to.equal('Alice');
  });

  for (const [from, to] of [
    ['udp', 'tcp'],
    ['tcp', 'udp'],
    ['tcp', 'tcp'],
  ] satisfies [Protocol, Protocol][]) {
    it(`a ${from} phone calls a ${to} phone`, async () => {
      const alice = await stage.phone('alice', { transport: from });
      const bob = await stage.phone('bob', { transport: to });
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      await expectTalk(outgoing, incoming);
      await incoming.hangup();
      expect((await outgoing.ended()).by).to.equal('there');
      expectCleanRtp(outgoing, incoming);
    });
  }

  it('sound is transcoded between mu-law and A-law', async () => {
    const alice = await stage.phone('alice', { codecs: ['PCMU'] });
    const bob = await stage.phone('bob', { codecs: ['PCMA'] });
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await expectTalk(outgoing, incoming);
    expectCleanRtp(outgoing, incoming);
  });

  it('DTMF passes in both directions', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.sendDtmf('159#');
    await incoming.receivesDtmf('159#');
    await incoming.sendDtmf('*0');
    await outgoing.receivesDtmf('*0');
  });

  for (const side of ['called', 'calling'] as const) {
    it(`DTMF passes by INFO to and from a ${side} phone without telephone-events`, async () => {
      const alice = await stage.phone('alice', { keysByRtp: side === 'called' });
      const bob = await stage.phone('bob', { keysByRtp: side === 'calling' });
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const [plain, other] = side === 'called' ? [incoming, outgoing] : [outgoing, incoming];
      await expectTalk(plain, other);
      await other.sendDtmf('58#');
      await eventually(async () =>
        expect(plain.infos.map((body) => /^Signal=(.)/.exec(body)?.[1])).to.deep.equal(['5', '8', '#']),
      );
      await plain.sendDtmf('7', { by: 'info' });
      await other.receivesDtmf('7');
    });
  }

  it('an unregistered caller needs only its password', async () => {
    const bob = await stage.phone('bob');
    const alice = await stage.phone('alice', { unregistered: true });
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    await outgoing.hangup();
    await incoming.ended();
    const liar = await stage.phone('carol', { unregistered: true, password: 'wrong' });
    expect((await (await liar.call('102')).refused()).status).to.be.oneOf([401, 403, 407]);
    expect(bob.waitingCalls).to.equal(0);
  });

  it('a call goes on while another one starts and ends', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const first = await stage.connect(alice, bob, '102');
    const second = await stage.connect(carol, dave, '104');
    await expectTalk(first.outgoing, first.incoming);
    await expectTalk(second.outgoing, second.incoming);
    await second.incoming.hangup();
    await second.outgoing.ended();
    await expectTalk(first.outgoing, first.incoming);
    expect(await stage.dialogs()).to.have.length(1);
    expectCleanRtp(first.outgoing, first.incoming, second.outgoing, second.incoming);
  });

  it('OPTIONS within the dialog is answered', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    for (const call of [outgoing, incoming]) expect((await call.request('OPTIONS')).status).to.equal(200);
  });
});
