import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { Agent } from '../support/agent.ts';
import { AppPort } from '../support/app-port.ts';
import { connectRoutedApp } from '../support/routed-app.ts';
import { type Held, sipServer } from '../support/servers.ts';
import type { App, Request, Response } from '../support/srf.ts';
import { sdp } from '../support/sdp.ts';
import { Arrivals } from '../../phones/wait.ts';

interface Record {
  /** `cdr:attempt|network`, with the fields after the time. */
  readonly what: string;
  readonly start: string;
}

/** A real drachtio-server must have `<cdrs>true</cdrs>` in its configuration. */
describe('Conformance, SIP server: call records', () => {
  const invites = new Arrivals<{ request: Request; response: Response }>('INVITE');
  let server: Held;
  let app: App;
  let records: AppPort;
  let agent: Agent;

  before(async () => {
    server = await sipServer();
    app = await connectRoutedApp(server.address, (srf) =>
      srf.use('invite', (request, response) => invites.push({ request, response })),
    );
    records = await AppPort.authenticated(server.address);
    for (const kind of ['attempt', 'start', 'stop']) await records.ask(`route|cdr:${kind}`);
  });
  beforeEach(async () => {
    agent = await Agent.open();
  });
  afterEach(() => agent.close());
  after(async () => {
    records.close();
    app.close();
    await server.close();
  });

  /** The next record of this call: an earlier call may still be ending. */
  async function record(callId: string | undefined): Promise<Record> {
    let message: string;
    do message = await records.next();
    while (!message.includes(`\r\nCall-ID: ${callId}\r\n`));
    const [line = '', start = ''] = message.split('\r\n');
    const [, kind, source, time, detail] = line.split('|');
    expect(time).to.match(/^\d\d:\d\d:\d\d\.\d{6}$/);
    return {
      what: [kind, source, detail].filter((part) => part !== undefined && part !== '').join(' '),
      start,
    };
  }

  it('cover an incoming call that is answered and ended by the caller', async () => {
    const calling = agent.call(`sip:service@${app.sip}`);
    const { request, response } = await invites.next(2000);
    const callId = request.get('Call-ID');
    const attempt = await record(callId);
    expect(attempt.what).to.equal('cdr:attempt network');
    expect(attempt.start).to.match(/^INVITE /);
    await app.srf.createUAS(request, response, { localSdp: sdp(20_000) });
    const begun = await record(callId);
    expect([begun.what, begun.start]).to.deep.equal(['cdr:start application uas', 'SIP/2.0 200 OK']);
    await agent.inDialog((await calling).dialog, 'BYE');
    const stop = await record(callId);
    expect(stop.what).to.equal('cdr:stop network normal-release');
    expect(stop.start).to.match(/^BYE /);
  });

  it('cover a refused incoming call', async () => {
    const calling = agent.send('INVITE', `sip:service@${app.sip}`);
    const { request, response } = await invites.next(2000);
    response.send(486);
    const callId = request.get('Call-ID');
    await calling;
    expect((await record(callId)).what).to.equal('cdr:attempt network');
    const stop = await record(callId);
    expect(stop.what).to.equal('cdr:stop application call-rejected');
    expect(stop.start).to.match(/^SIP\/2\.0 486 /);
  });

  it('cover an incoming call cancelled by the caller', async () => {
    const calling = agent.start('INVITE', `sip:service@${app.sip}`, {
      provisional: ({ status }) => {
        if (status === 180) agent.endpoint.cancel(calling);
      },
    });
    const { request, response } = await invites.next(2000);
    response.send(180);
    const callId = request.get('Call-ID');
    expect((await calling.final)?.status).to.equal(487);
    expect((await record(callId)).what).to.equal('cdr:attempt network');
    expect((await record(callId)).what).to.equal('cdr:stop network call-canceled');
  });

  it('cover an outgoing call that is answered and ended by the application', async () => {
    const making = app.srf.createUAC(agent.uri, { localSdp: sdp(20_000) });
    const invite = await agent.request('INVITE');
    await agent.answer(invite);
    const dialog = await making;
    const callId = header(invite.request, 'call-id');
    const attempt = await record(callId);
    expect(attempt.what).to.equal('cdr:attempt application');
    expect((await record(callId)).what).to.equal('cdr:start network uac');
    const ended = dialog.destroy();
    (await agent.request('BYE')).respond(200);
    await ended;
    expect((await record(callId)).what).to.equal('cdr:stop application normal-release');
  });

  it('cover a refused outgoing call', async () => {
    const failing = app.srf.createUAC(agent.uri, { localSdp: sdp(20_000) }).catch(() => undefined);
    const invite = await agent.request('INVITE');
    invite.respond(603);
    const callId = header(invite.request, 'call-id');
    await failing;
    expect((await record(callId)).what).to.equal('cdr:attempt application');
    const stop = await record(callId);
    expect(stop.what).to.equal('cdr:stop network call-rejected');
    expect(stop.start).to.match(/^SIP\/2\.0 603 /);
  });
});
