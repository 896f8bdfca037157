import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import { requirePeer } from '../phones/peers.ts';
import { runSipp } from '../phones/sipp.ts';
import { freeSipPort } from '../support/ports.ts';
import { useStage } from '../support/stage.ts';

describe('SIP programs of other people', () => {
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

    it(`SIPp calls 501 over ${transport}, ten times`, async function () {
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
      it(`registers over ${transport}, calls 501, a phone, and is called`, async function () {
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
});
