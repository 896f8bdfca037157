import { expect } from 'chai';
import type { IncomingInvite } from '../../runtime/signalling/incoming-invite.ts';
import { SipLink } from '../../runtime/signalling/link.ts';
import { startSipServer } from '../../runtime/embedded/index.ts';
import { Agent } from '../conformance/support/agent.ts';
import { Dialog } from '../phones/sip/dialog.ts';
import { header, type SipResponse } from '../phones/sip/message.ts';
import { Arrivals, Moment } from '../phones/wait.ts';
import { silentLog } from '../support/log.ts';

const require = (value: string) => ({ name: 'Require', value });

describe('extensions that a caller requires', () => {
  const invites = new Arrivals<IncomingInvite>('INVITE');
  let server: Awaited<ReturnType<typeof startSipServer>>;
  let agent: Agent;
  let link: SipLink;
  let target: string;

  before(async () => {
    const secret = 'extensions';
    server = await startSipServer({ app: '127.0.0.1:0', secret, sip: ['127.0.0.1:0'] });
    const [host = '', port = ''] = (server.addresses['app'] ?? '').split(':');
    target = `sip:service@${server.addresses['sip']}`;
    const handlers = {
      invite: (incoming: IncomingInvite) => invites.push(incoming),
      register: () => undefined,
      message: () => undefined,
    };
    link = await SipLink.connect({ host, port: Number(port), secret }, handlers, silentLog);
    agent = await Agent.open();
  });

  after(async () => {
    link.close();
    const { violations } = agent;
    await agent.close();
    await server.close();
    expect(violations).to.deep.equal([]);
  });

  it('are named in a 420 when unknown', async () => {
    const refused = await agent.start('INVITE', target, { headers: [require('replaces, precondition, x-odd')] }).final;
    expect(refused?.status).to.equal(420);
    expect(header(refused as SipResponse, 'unsupported')).to.equal('precondition, x-odd');
    expect(invites.pending).to.equal(0);
  });

  it('may be 100rel: the ringing response is acknowledged (RFC 3262 section 3)', async () => {
    const ringing = new Moment<SipResponse>('180');
    const call = agent.start('INVITE', target, {
      headers: [require('100rel'), { name: 'Supported', value: '100rel' }],
      provisional: (response) => {
        if (response.status === 180) ringing.reach(response);
      },
    });
    const incoming = await invites.next(1000);
    incoming.progress();
    const early = await ringing.wait(1000);
    expect(header(early, 'require')).to.equal('100rel');
    const rack = { name: 'RAck', value: `${header(early, 'rseq')} 1 INVITE` };
    expect((await agent.inDialog(Dialog.ofCaller(call.request, early), 'PRACK', [rack]))?.status).to.equal(200);
    incoming.reject(486);
    expect((await call.final)?.status).to.equal(486);
  });
});
