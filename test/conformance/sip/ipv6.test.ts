import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { HAS_IPV6 } from '../../support/ipv6.ts';
import { REAL_SIP } from '../../support/real-servers.ts';
import { sdp } from '../support/sdp.ts';
import { useSipStage } from '../support/stage.ts';

/** A real drachtio-server needs a contact at [::1]: docs/conformance.md. */
describe('Conformance, SIP server: IPv6', () => {
  before(function () {
    if (!HAS_IPV6) this.skip();
  });

  const stage = useSipStage(['invite', 'options', 'register'], false, HAS_IPV6);

  for (const transport of ['udp', 'tcp'] as const) {
    describe(`over ${transport}`, () => {
      before(function () {
        if (stage.listener(transport, true) === undefined) this.skip();
      });

      const at = (): string => `${stage.listener(transport, true)}${transport === 'tcp' ? ';transport=tcp' : ''}`;

      it('a call comes with its source, and is answered with a Contact of IPv6', async () => {
        const agent = await stage.agentOnIpv6(transport);
        const calling = agent.call(`sip:service@${at()}`);
        const { request, response } = await stage.incoming('invite');
        expect(request.source_address).to.equal('::1');
        expect(request.get('Contact')).to.contain('[::1]:');
        const app = await stage.srf.createUAS(request, response, { localSdp: sdp(20_000) });
        const { dialog, answer } = await calling;
        expect(header(answer, 'contact')).to.equal(`<sip:${at()}>`);
        const ended = new Promise((resolve) => app.once('destroy', resolve));
        expect((await agent.inDialog(dialog, 'BYE'))?.status).to.equal(200);
        await ended;
      });

      it('a call of the application has IPv6 in Via and Contact', async function () {
        // drachtio-server does not send it by UDP: docs/conformance.md.
        if (REAL_SIP && transport === 'udp') this.skip();
        const agent = await stage.agentOnIpv6(transport);
        const making = stage.srf.createUAC(agent.uri, { localSdp: sdp(20_000) });
        const invite = await agent.request('INVITE');
        expect(header(invite.request, 'via')).to.match(/^SIP\/2\.0\/(?:UDP|TCP) \[::1\]:?/);
        expect(header(invite.request, 'contact')).to.match(/^<sip:\[::1\]:\d+(?:;transport=tcp)?>$/);
        await agent.answer(invite);
        const app = await making;
        const bye = agent.request('BYE').then((transaction) => transaction.respond(200));
        await app.destroy();
        await bye;
      });
    });
  }
});
