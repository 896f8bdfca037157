import { expect } from 'chai';
import { SipLink } from '../../runtime/signalling/link.ts';
import { receivingOnly } from '../../runtime/sip-facts/index.ts';
import { Agent } from '../conformance/support/agent.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import type { Dialog, Srf } from '../conformance/support/srf.ts';
import { silentLog } from '../support/log.ts';

describe('a call without an offer', () => {
  let server: HeldSipServer;
  let link: SipLink;
  let agent: Agent;

  before(async () => {
    server = await sipServer();
    const handlers = { invite: () => undefined, register: () => undefined, message: () => undefined };
    link = await SipLink.connect(server.address, handlers, silentLog);
    agent = await Agent.open();
  });
  after(async () => {
    link.close();
    await agent.close();
    await server.close();
  });

  const forms: Record<string, (srf: Srf) => Promise<Dialog>> = {
    'a promise': (srf) => srf.createUAC(agent.uri, { headers: { 'X-Test': 'yes' } }),
    'a callback': (srf) =>
      new Promise((resolve, reject) => {
        const done = (err: unknown, dialog: Dialog) => (dialog === undefined ? reject(err) : resolve(dialog));
        const create = srf.createUAC.bind(srf) as (...args: unknown[]) => void;
        create(agent.uri, { headers: { 'X-Test': 'yes' } }, {}, done);
      }),
  };
  for (const [name, make] of Object.entries(forms)) {
    it(`is marked recvonly, medium by medium (made with ${name})`, async () => {
      const making = make(link.srfForMedia as Srf);
      const invite = await agent.request('INVITE');
      expect(invite.request.body).to.equal('');
      const { ack } = await agent.answer(invite, sdp(43_000));
      expect(ack.body).to.equal(sdp(43_000, 1, 'recvonly'));
      const ended = (await making).destroy();
      (await agent.request('BYE')).respond(200);
      await ended;
    });

    it(`fails like any other (made with ${name})`, async () => {
      const making = make(link.srfForMedia as Srf);
      (await agent.request('INVITE')).respond(486);
      const status = await making.then(
        () => 200,
        (error: unknown) => (error as { status?: number }).status,
      );
      expect(status).to.equal(486);
    });
  }

  it('is answered as its option says', async () => {
    const options = {
      headers: {},
      answer: (offer: string) => offer.replace(/ 101$/m, '').replace(/^a=rtpmap:101.*\r\n/m, ''),
    };
    const making = (link.srfForMedia as Srf).createUAC(agent.uri, options);
    const { ack } = await agent.answer(await agent.request('INVITE'), sdp(43_000));
    expect(ack.body).to.match(/^m=audio 43000 RTP\/AVP 0\r\na=rtpmap:0 PCMU\/8000\r\na=recvonly\r\n$/m);
    const ended = (await making).destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
  });

  it('has the direction at the end of each medium', () => {
    const session = 'v=0\r\na=sendrecv\r\n';
    expect(receivingOnly(`${session}m=audio 1 RTP/AVP 0\r\na=sendrecv\r\nm=video 2 RTP/AVP 96\r\n`)).to.equal(
      'v=0\r\nm=audio 1 RTP/AVP 0\r\na=recvonly\r\nm=video 2 RTP/AVP 96\r\na=recvonly\r\n',
    );
  });
});
