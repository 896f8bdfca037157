import { expect } from 'chai';
import type { IncomingInvite } from '../../runtime/signalling/incoming-invite.ts';
import { SipLink } from '../../runtime/signalling/link.ts';
import type { OutgoingInvite } from '../../runtime/signalling/outgoing-invite.ts';
import type { SipDialog } from '../../runtime/signalling/sip-dialog.ts';
import { Agent } from '../conformance/support/agent.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import { sdp } from '../conformance/support/sdp.ts';
import { header } from '../phones/sip/message.ts';
import { Arrivals } from '../phones/wait.ts';
import { silentLog } from '../support/log.ts';

const SUPPORTED = { name: 'Supported', value: 'timer' };
const expires = (value: string) => ({ name: 'Session-Expires', value });

describe('session timers of calls', () => {
  const invites = new Arrivals<IncomingInvite>('INVITE');
  let server: HeldSipServer;
  let agent: Agent;
  let link: SipLink;
  let calls = 0;

  before(async () => {
    server = await sipServer({ t1: 50 });
  });
  beforeEach(async () => {
    agent = await Agent.open();
  });
  afterEach(async () => {
    link.close();
    expect(agent.violations).to.deep.equal([]);
    await agent.close();
  });
  after(() => server.close());

  /** @param sessionExpires far below the least interval, so that silence is noticed after half of it */
  async function connect(sessionExpires?: number): Promise<void> {
    const handlers = {
      invite: (incoming: IncomingInvite) => invites.push(incoming),
      register: () => undefined,
      message: () => undefined,
    };
    link = await SipLink.connect(
      server.address,
      handlers,
      silentLog,
      sessionExpires === undefined ? {} : { sessionExpires },
    );
  }

  function invite(): OutgoingInvite {
    calls += 1;
    return link.invite({
      uri: agent.uri,
      callId: `session-timer-${process.pid}-${Date.now()}-${calls}`,
      from: '<sip:alice@demo.local>',
      to: '<sip:bob@demo.local>',
      sdp: sdp(20_000),
      onProvisional: () => undefined,
    });
  }

  async function answered(call: OutgoingInvite): Promise<{ dialog: SipDialog; ended: Promise<string> }> {
    const result = await call.result;
    if (!result.answered) throw new Error(result.answer.line);
    const ended = Promise.withResolvers<string>();
    result.dialog.handle({
      ended: ended.resolve,
      reinvite: async () => ({ status: 200, sdp: sdp(20_000, 2) }),
      answerInAck: () => undefined,
      messaged: () => undefined,
      refer: () => ({ status: 603 }),
    });
    return { dialog: result.dialog, ended: ended.promise };
  }

  /** What an INVITE of the agent with these headers is answered with. */
  async function answerTo(...headers: { name: string; value: string }[]): Promise<Record<string, string | undefined>> {
    const uri = `sip:service@${await sipAddress()}`;
    const call = agent.start('INVITE', uri, { headers });
    const taken = invites.next(1000).then((incoming) => incoming.accept(sdp(20_000)));
    taken.catch(() => undefined);
    const final = await call.final;
    if (final === undefined) throw new Error('no answer');
    const names = ['session-expires', 'require', 'min-se'] as const;
    return { status: String(final.status), ...Object.fromEntries(names.map((name) => [name, header(final, name)])) };
  }

  /** Where the server listens, as its Contact tells. */
  async function sipAddress(): Promise<string> {
    const call = invite();
    const incoming = await agent.request('INVITE');
    incoming.respond(486);
    await call.result;
    const contact = header(incoming.request, 'contact') ?? '';
    return /sip:(?:[^@>]*@)?([^;>]+)/.exec(contact)?.[1] ?? '';
  }

  it('are offered to the called side, as the refresher', async () => {
    await connect();
    const call = invite();
    const { request, respond } = await agent.request('INVITE').then((incoming) => ({
      request: incoming.request,
      respond: (status: number) => incoming.respond(status),
    }));
    expect(header(request, 'session-expires')).to.equal('1800;refresher=uas');
    expect(header(request, 'min-se')).to.equal('90');
    expect(header(request, 'supported')).to.equal('timer');
    respond(486);
    expect((await call.result).answer.status).to.equal(486);
  });

  it('are offered again with the interval requested by the called side', async () => {
    await connect();
    const call = invite();
    (await agent.request('INVITE')).respond(422, { headers: [{ name: 'Min-SE', value: '2400' }] });
    const second = await agent.request('INVITE');
    expect(header(second.request, 'session-expires')).to.equal('2400;refresher=uas');
    expect(header(second.request, 'min-se')).to.equal('2400');
    second.respond(422, { headers: [{ name: 'Min-SE', value: '3600' }] });
    expect((await call.result).answer.status, 'no third time').to.equal(422);
  });

  it("follow a caller's wish, and are refused when too short", async () => {
    await connect();
    expect(await answerTo()).to.include({ status: '200', 'session-expires': undefined, require: undefined });
    expect(await answerTo(SUPPORTED)).to.include({ 'session-expires': '1800;refresher=uac', require: 'timer' });
    const theirs = await answerTo(SUPPORTED, expires('600;refresher=uac'));
    expect(theirs).to.include({ 'session-expires': '600;refresher=uac', require: 'timer' });
    const ours = await answerTo(SUPPORTED, expires('600;refresher=uas'));
    expect(ours).to.include({ 'session-expires': '600;refresher=uas', require: undefined });
    const between = await answerTo(expires('600'));
    expect(between, 'a caller without support').to.include({
      'session-expires': '600;refresher=uas',
      require: undefined,
    });
    expect(await answerTo(SUPPORTED, expires('60'))).to.include({ status: '422', 'min-se': '90' });
  });

  it('continue when the phone refreshes', async () => {
    await connect();
    const call = invite();
    const { dialog: far } = await agent.answer(await agent.request('INVITE'));
    const { dialog } = await answered(call);
    for (const method of ['INVITE', 'UPDATE']) {
      const refreshed = await agent.inDialog(
        far,
        method,
        [SUPPORTED, expires('600;refresher=uac')],
        method === 'INVITE' ? sdp(41_000, 2) : '',
      );
      expect(refreshed && header(refreshed, 'session-expires'), method).to.equal('600;refresher=uac');
      if (method === 'INVITE')
        agent.endpoint.sendAck(far.request('ACK', [], '', far.lastCSeq), agent.endpoint.peerOf(far.nextHop));
    }
    const bye = dialog.bye();
    (await agent.request('BYE')).respond(200);
    await bye;
  });

  it('a silent phone is probed; any answer keeps its call', async () => {
    await connect(0.2);
    const call = invite();
    await agent.answer(await agent.request('INVITE'));
    const { dialog } = await answered(call);
    for (const status of [200, 405]) (await agent.request('OPTIONS')).respond(status);
    const third = await agent.request('OPTIONS');
    const bye = dialog.bye();
    third.respond(200);
    (await agent.request('BYE')).respond(200);
    await bye;
  });

  it('a probe answered with an unknown dialog ends the call', async () => {
    await connect(0.2);
    const call = invite();
    await agent.answer(await agent.request('INVITE'));
    const { ended } = await answered(call);
    (await agent.request('OPTIONS')).respond(481);
    expect(await ended).to.equal('session lost');
    const bye = await agent.request('BYE');
    expect(header(bye.request, 'reason')).to.equal('SIP;cause=408;text="Session lost"');
    bye.respond(481);
  });

  it('a vanished phone ends its call', async () => {
    await connect(0.2);
    const call = invite();
    await agent.answer(await agent.request('INVITE'));
    const { ended } = await answered(call);
    await agent.close();
    expect(await ended).to.equal('session lost');
  });
});
