import { expect } from 'chai';
import { Baresip } from '../phones/baresip.ts';
import { Linphone } from '../phones/linphone.ts';
import { requirePeer } from '../phones/peers.ts';
import { runSipp } from '../phones/sipp.ts';
import { freeSipPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { expectCallsBothWays } from './expectations.ts';

/**
 * An account that no other file calls: drachtio-server keeps calling its contact over the TCP connection of the previous program
 * until that registration would expire (docs/conformance.md).
 */
const LOGIN = 'linus';
const PASSWORD = `demo-${LOGIN}`;
const NUMBER = '119';
const isTakenForTcp = (transport: 'udp' | 'tcp'): boolean => REAL_SIP && transport === 'udp';

describe('interoperability with other SIP programs', () => {
  const stage = useStage();

  before(async () => {
    const rest = await stage.rest();
    const [domain] = (await rest.get('/rest/v1/domain/domains')).json<readonly { id: string }[]>();
    const body = { domain_id: domain?.id, login: LOGIN, phonenumber: NUMBER, pwd: PASSWORD };
    expect((await rest.send('POST', '/rest/v1/domain/sipusers', { body })).status).to.equal(200);
  });

  after(async () => {
    const rest = await stage.rest();
    const [user] = (await rest.get('/rest/v1/domain/sipusers', { filter: JSON.stringify({ login: LOGIN }) })).json<
      readonly { id: string }[]
    >();
    expect((await rest.send('DELETE', `/rest/v1/domain/sipusers/${user?.id}`)).status).to.equal(204);
  });

  for (const transport of ['udp', 'tcp'] as const) {
    it(`SIPp registers over ${transport}`, async function () {
      const program = requirePeer(this, 'sipp');
      const result = await runSipp(program, {
        scenario: 'register',
        server: stage.node.sip,
        port: await freeSipPort(),
        transport,
        username: LOGIN,
        password: PASSWORD,
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
        await expectCallsBothWays(alice, carol);
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
      const linus = await Linphone.start(program, { ...account(LOGIN, transport), tone: 700 });
      running.push(linus);
      await linus.registered();
      return linus;
    }

    for (const transport of ['udp', 'tcp'] as const) {
      it(`registers over ${transport}, calls 501 and a phone, holds, and is called`, async function () {
        if (isTakenForTcp(transport)) this.skip();
        const linus = await linphone(requirePeer(this, 'linphonec'), transport);
        await linus.call('sip:501@demo.local');
        await linus.hangup();

        const alice = await stage.phone('alice');
        const calling = linus.call('sip:101@demo.local');
        const incoming = await alice.incoming();
        incoming.ring();
        await incoming.answer();
        await calling;
        await incoming.hears(700);
        for (const digit of '4#') linus.command(digit);
        await incoming.receivesDtmf('4#', { withinMs: 6000 });
        linus.command('pause');
        await linus.printed(/paused/i);
        await incoming.hearsNot(700, { forMs: 300 });
        linus.command('resume');
        await linus.printed(/resumed|Media streams established/i);
        linus.command('terminate');
        expect((await incoming.ended()).by).to.equal('there');
        await linus.ended();

        const outgoing = await alice.call(NUMBER);
        await linus.answer();
        await outgoing.answered();
        await outgoing.hears(700);
        await outgoing.hold();
        await outgoing.unhold();
        await outgoing.hears(700);
        await outgoing.hangup();
        await linus.ended();
      });

      it(`talks to baresip over ${transport}, and either side hangs up`, async function () {
        if (isTakenForTcp(transport)) this.skip();
        const linus = await linphone(requirePeer(this, 'linphonec'), transport);
        const program = requirePeer(this, 'baresip');
        const carol = await Baresip.start(program, { ...account('carol', transport), tone: 500 });
        running.push(carol);
        await carol.registered();
        const calling = linus.call('sip:103@demo.local');
        await carol.event('CALL_INCOMING');
        carol.accept();
        await calling;
        await carol.event('CALL_ESTABLISHED');
        await linus.hangup();
        await carol.event('CALL_CLOSED');

        carol.dial(`sip:${NUMBER}@demo.local`);
        await linus.answer();
        await carol.event('CALL_ESTABLISHED');
        carol.hangup();
        await linus.ended();
        await stage.expectNoDialog();
      });
    }
  });
});
