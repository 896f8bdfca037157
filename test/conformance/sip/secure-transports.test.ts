import { expect } from 'chai';
import { header, type SipResponse, token } from '../../phones/sip/message.ts';
import { REAL_SIP } from '../../support/real-servers.ts';
import type { Agent } from '../support/agent.ts';
import { sdp } from '../support/sdp.ts';
import { useSipStage } from '../support/stage.ts';

/** A real drachtio-server needs contacts and a certificate for it: docs/conformance.md. */
describe('Conformance, SIP server: TLS and WebSockets', () => {
  const stage = useSipStage(['invite', 'options', 'register'], true);

  /** The phone speaks first, as at its registration. @returns the URI of its connection */
  async function connectionOf(agent: Agent, protocol: string): Promise<string> {
    const answered = agent.send('OPTIONS', stage.target);
    const { request, response } = await stage.incoming('options');
    response.send(200);
    expect((await answered)?.status).to.equal(200);
    return `sip:${request.source_address}:${request.source_port};transport=${protocol}`;
  }

  for (const [protocol, contact] of [
    ['tls', 'sips'],
    ['ws', 'sip'],
    ['wss', 'sips'],
  ] as const) {
    describe(`over ${protocol}`, () => {
      before(function () {
        if (stage.listener(protocol) === undefined) this.skip();
      });

      it('calls arrive, are answered with a Contact of the transport, and end from either side', async () => {
        const agent = await stage.agent(protocol);
        for (const side of ['phone', 'application']) {
          const calling = agent.call(stage.target);
          const { request, response } = await stage.incoming('invite');
          // The app protocol reports WebSockets as TCP; the Via tells them apart.
          expect(request.protocol).to.equal(protocol === 'tls' ? 'tls' : 'tcp');
          expect(request.get('Via')).to.match(new RegExp(`^SIP/2\\.0/${protocol.toUpperCase()} `));
          const app = await stage.srf.createUAS(request, response, { localSdp: sdp(20_000) });
          const { dialog, answer } = await calling;
          expect(header(answer, 'contact')).to.equal(`<${contact}:${stage.listener(protocol)};transport=${protocol}>`);
          const told = app.request({ method: 'INFO', body: 'x', headers: { 'Content-Type': 'text/plain' } });
          (await agent.request('INFO')).respond(200);
          expect((await told).status).to.equal(200);
          const ended = new Promise((resolve) => app.once('destroy', resolve));
          if (side === 'phone') {
            expect((await agent.inDialog(dialog, 'BYE'))?.status).to.equal(200);
            await ended;
          } else {
            const bye = agent.request('BYE').then((transaction) => transaction.respond(200));
            await app.destroy();
            await bye;
          }
        }
      });

      it('the application calls a phone over its connection, whatever host its Contact has', async () => {
        const agent = await stage.agent(protocol);
        const proxy = await connectionOf(agent, protocol);
        const making = stage.srf.createUAC(agent.uri, { localSdp: sdp(20_000), proxy });
        const invite = await agent.request('INVITE');
        expect(invite.request.uri).to.equal(agent.uri);
        // A real drachtio-server leaves the default port out.
        const sentBy = stage.listener(protocol)?.replace(/:5061$/, '(:5061)?');
        expect(header(invite.request, 'via')).to.match(
          new RegExp(`^SIP/2\\.0/${protocol.toUpperCase()} ${sentBy};branch=`),
        );
        expect(header(invite.request, 'contact')).to.equal(
          `<${contact}:${stage.listener(protocol)};transport=${protocol}>`,
        );
        const { dialog, ack } = await agent.answer(invite);
        expect(ack.uri).to.equal(agent.uri);
        const app = await making;
        const changing = app.modify(sdp(20_002));
        const again = await agent.request('INVITE');
        again.respond(200, {
          headers: [agent.contact, { name: 'Content-Type', value: 'application/sdp' }],
          body: sdp(41_000),
        });
        await again.acked;
        await changing;
        const ended = new Promise((resolve) => app.once('destroy', resolve));
        const bye = (await agent.inDialog(dialog, 'BYE')) as SipResponse;
        expect(bye.status).to.equal(200);
        await ended;
      });

      it('a phone that has registered again over another connection gets the requests of its calls there', async () => {
        const before = await stage.agent(protocol);
        // drachtio-server keeps it by user and host.
        const uri = before.uri.replace('far@', `${token()}@`);
        const named = { name: 'Contact', value: `<${uri}>` };
        const register = async (from: Agent): Promise<string> => {
          const answered = from.send('REGISTER', stage.target, { headers: [named], contact: false });
          const { request, response } = await stage.incoming('register');
          response.send(200, { headers: { Contact: `<${uri}>;expires=60` } });
          expect((await answered)?.status).to.equal(200);
          return `sip:${request.source_address}:${request.source_port};transport=${protocol}`;
        };
        const proxy = await register(before);
        const making = stage.srf.createUAC(uri, { localSdp: sdp(20_000), proxy });
        const invite = await before.request('INVITE');
        const type = { name: 'Content-Type', value: 'application/sdp' };
        invite.respond(200, { headers: [named, type], body: sdp(41_000) });
        await invite.acked;
        const app = await making;
        await before.close();
        const after = await stage.agent(protocol);
        await register(after);
        const bye = after.request('BYE').then((transaction) => transaction.respond(200));
        await app.destroy();
        await bye;
      });

      it('a keep-alive is answered (RFC 5626 section 4.4.1)', async function () {
        // docs/conformance.md
        if (REAL_SIP && protocol === 'tls') {
          this.skip();
          return;
        }
        const agent = await stage.agent(protocol);
        await connectionOf(agent, protocol);
        expect(await agent.endpoint.ping()).to.equal('\r\n');
      });

      it('a call to a phone whose connection is closed fails with 503', async () => {
        const agent = await stage.agent(protocol);
        const proxy = await connectionOf(agent, protocol);
        await agent.close();
        const failure = await stage.srf.createUAC(agent.uri, { localSdp: sdp(20_000), proxy }).then(
          () => undefined,
          (error: { status: number }) => error.status,
        );
        expect(failure).to.equal(503);
      });
    });
  }
});
