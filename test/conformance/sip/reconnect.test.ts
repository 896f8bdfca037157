import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { Agent } from '../support/agent.ts';
import { AppPort } from '../support/app-port.ts';
import { type Held, sipServer } from '../support/servers.ts';
import { sdp } from '../support/sdp.ts';

describe('Conformance, SIP server: a reconnected application', () => {
  let server: Held;
  let agent: Agent;
  let app: AppPort;

  before(async () => {
    server = await sipServer();
  });
  beforeEach(async () => {
    agent = await Agent.open();
    app = await AppPort.authenticated(server.address);
  });
  afterEach(async () => {
    app.close();
    await agent.close();
  });
  after(() => server.close());

  /** The application calls the agent; returns the dialog's id and its far end. */
  async function called() {
    const asked = app.ask(`sip||\r\nINVITE ${agent.uri} SIP/2.0\r\nContent-Type: application/sdp\r\n\r\n${sdp()}`);
    const answering = agent.request('INVITE').then((invite) => agent.answer(invite));
    await asked;
    const id = (await app.next()).split('\r\n')[0]?.split('|')[9] ?? '';
    await app.ask(`sip||${id}\r\nACK sip:placeholder SIP/2.0\r\n\r\n`);
    return { id, far: (await answering).dialog };
  }

  it('ends its earlier calls by id', async () => {
    const { id, far } = await called();
    app.close();
    app = await AppPort.authenticated(server.address);
    const asked = app.ask(`sip||${id}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const bye = await agent.request('BYE');
    expect(header(bye.request, 'call-id')).to.equal(far.callId);
    expect(far.receive(bye.request)).to.deep.equal([]);
    bye.respond(200);
    expect((await asked)[0]).to.equal('OK');
  });

  it('modifies the session of its earlier calls', async () => {
    const { id, far } = await called();
    app.close();
    app = await AppPort.authenticated(server.address);
    const type = 'Content-Type: application/sdp';
    void app.ask(`sip||${id}\r\nINVITE sip:placeholder SIP/2.0\r\n${type}\r\n\r\n${sdp(20_000, 2)}`);
    const invite = await agent.request('INVITE');
    expect(far.receive(invite.request)).to.deep.equal([]);
    expect(invite.request.body).to.equal(sdp(20_000, 2));
    invite.respond(486);
    await invite.acked;
    void app.ask(`sip||${id}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    (await agent.request('BYE')).respond(200);
  });
});
