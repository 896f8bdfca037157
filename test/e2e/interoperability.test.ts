import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import { Linphone } from '../phones/linphone.ts';
import { requirePeer } from '../phones/peers.ts';
import { runSipp } from '../phones/sipp.ts';
import { freeSipPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';

/**
 * drachtio-server keeps calling `dave@127.0.0.1` over the TCP connection of the previous program until that registration would
 * expire (docs/conformance.md).
 */
const isTakenForTcp = (transport: 'udp' | 'tcp'): boolean => REAL_SIP && transport === 'udp';

describe('interoperability with other SIP programs', () => {
  const stage = useStage();

  for (const transport of ['udp', 'tcp'] as const) {
    it(`SIPp registers over ${transport}`, async function () {
      const program = requirePeer(this, 'sipp');
      const result = await runSipp(program, {
        scenario: 'register',
        server: stage.node.sip,
        port: await freeSipPort(),
        transport,
        username: 'dave',
        password: 'demo-dave',
        keys: { domain: 'demo.local' },
      });
      expect(result.code, result.errors).to.equal(0);
    });

    it(`SIPp calls 501 ten times over ${transport}`, async function () {
      const program = requirePeer(this, 'sipp');
      const result = await runSipp(program, {
        scenario: 'call',
        server: stage.node.sip,
        port: await freeSipPort(),
        transport,
        username: 'carol',
        password: 'demo-carol',
        keys: { domain: 'demo.local', number: '501' },
        calls: 10,
        rate: 5,
      });
      expect(result.code, result.errors).to.equal(0);
      await stage.expectNoDialog();
    });
  }

  describe('baresip', () => {
    let baresip: Baresip | undefined;

    afterEach(async () => {
      await baresip?.stop();
      baresip = undefined;
    });

    for (const transport of ['udp', 'tcp'] as const) {
      it(`registers over ${transport}, calls 501 and a phone, and is called`, async function () {
        const program = requirePeer(this, 'baresip');
        const carol = await Baresip.start(program, {
          login: 'carol',
          domain: 'demo.local',
          password: 'demo-carol',
          server: stage.node.sip,
          transport,
          tone: 500,
        });
        baresip = carol;
        await carol.registered();
        carol.dial('sip:501@demo.local');
        await carol.event('CALL_ESTABLISHED');
        carol.hangup();
        await carol.event('CALL_CLOSED');

        const alice = await stage.phone('alice');
        carol.dial('sip:101@demo.local');
        const incoming = await alice.incoming();
        incoming.ring();
        await incoming.answer();
        await incoming.hears(500);
        carol.hangup();
        expect((await incoming.ended()).by).to.equal('there');

        const outgoing = await alice.call('103');
        await carol.event('CALL_INCOMING');
        carol.accept();
        await outgoing.answered();
        await outgoing.hears(500);
        await outgoing.hold();
        await outgoing.unhold();
        await outgoing.hears(500);
        await outgoing.hangup();
        await carol.event('CALL_CLOSED');
      });
    }
  });

  describe('linphone', () => {
    const running: { stop(): Promise<void> }[] = [];

    afterEach(async () => {
      for (const program of running.splice(0)) await program.stop();
    });

    const account = (login: string, transport: 'udp' | 'tcp') => ({
      login,
      domain: 'demo.local',
      password: `demo-${login}`,
      server: stage.node.sip,
      transport,
    });

    async function linphone(program: string, transport: 'udp' | 'tcp'): Promise<Linphone> {
      const dave = await Linphone.start(program, { ...account('dave', transport), tone: 700 });
      running.push(dave);
      await dave.registered();
      return dave;
    }

    for (const transport of ['udp', 'tcp'] as const) {
      it(`registers over ${transport}, calls 501 and a phone, holds, and is called`, async function () {
        if (isTakenForTcp(transport)) this.skip();
        const dave = await linphone(requirePeer(this, 'linphonec'), transport);
        await dave.call('sip:501@demo.local');
        await dave.hangup();

        const alice = await stage.phone('alice');
        const calling = dave.call('sip:101@demo.local');
        const incoming = await alice.incoming();
        incoming.ring();
        await incoming.answer();
        await calling;
        await incoming.hears(700);
        for (const digit of '4#') dave.command(digit);
        await incoming.receivesDtmf('4#', { withinMs: 6000 });
        dave.command('pause');
        await dave.printed(/paused/i);
        await incoming.hearsNot(700, { forMs: 300 });
        dave.command('resume');
        await dave.printed(/resumed|Media streams established/i);
        dave.command('terminate');
        expect((await incoming.ended()).by).to.equal('there');
        await dave.ended();

        const outgoing = await alice.call('104');
        await dave.answer();
        await outgoing.answered();
        await outgoing.hears(700);
        await outgoing.hold();
        await outgoing.unhold();
        await outgoing.hears(700);
        await outgoing.hangup();
        await dave.ended();
      });

      it(`talks to baresip over ${transport}, and either side hangs up`, async function () {
        if (isTakenForTcp(transport)) this.skip();
        const dave = await linphone(requirePeer(this, 'linphonec'), transport);
        const program = requirePeer(this, 'baresip');
        const carol = await Baresip.start(program, { ...account('carol', transport), tone: 500 });
        running.push(carol);
        await carol.registered();
        const calling = dave.call('sip:103@demo.local');
        await carol.event('CALL_INCOMING');
        carol.accept();
        await calling;
        await carol.event('CALL_ESTABLISHED');
        await dave.hangup();
        await carol.event('CALL_CLOSED');

        carol.dial('sip:104@demo.local');
        await dave.answer();
        await carol.event('CALL_ESTABLISHED');
        carol.hangup();
        await dave.ended();
        await stage.expectNoDialog();
      });
    }
  });
});
