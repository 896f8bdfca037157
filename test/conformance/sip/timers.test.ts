import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { header, type SipResponse } from '../../phones/sip/message.ts';
import { Agent } from '../support/agent.ts';
import { connectRoutedApp } from '../support/routed-app.ts';
import { type HeldSipServer, sipServer } from '../support/servers.ts';
import type { App, Message, Request, Response } from '../support/srf.ts';
import { sdp } from '../support/sdp.ts';

/** 64*T1 of the embedded server here; a real one is configured with RFC 3261's 32 s. */
const EMBEDDED_T1 = 50;
const LIMIT_MS = 40_000;

interface Outcome {
  readonly status: number | undefined;
  readonly afterMs: number;
}

/**
 * Tests of RFC 3261's time-outs. They run concurrently, because each takes half a minute on a real server.
 */
describe('Conformance, SIP server: silent far ends', function () {
  this.timeout(LIMIT_MS + 10_000);
  let server: HeldSipServer;
  let app: App;
  let agent: Agent;
  let timeoutMs: number;
  const outcomes = new Map<string, Outcome>();
  let unacknowledged: { bye: Message; repeated: number } | undefined;

  before('let everything time out', async () => {
    server = await sipServer({ t1: EMBEDDED_T1 });
    timeoutMs = server.timeoutMs;
    const incoming = Promise.withResolvers<{ request: Request; response: Response }>();
    app = await connectRoutedApp(server.address, (srf) =>
      srf.use('invite', (request, response) => incoming.resolve({ request, response })),
    );
    agent = await Agent.open();
    const udp = createSocket('udp4').bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const sockets: Socket[] = [];
    const tcp = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const call = async (name: string, uri: string): Promise<void> => {
      const started = performance.now();
      const status = await app.srf.createUAC(uri, { localSdp: sdp() }).then(
        () => 200,
        (error: unknown) => (error as { status?: number }).status,
      );
      outcomes.set(name, { status, afterMs: performance.now() - started });
    };
    await Promise.all([
      call('udp', `sip:nobody@127.0.0.1:${udp.address().port}`),
      call('tcp', `sip:nobody@127.0.0.1:${(tcp.address() as { port: number }).port};transport=tcp`),
      neverAcknowledged(app, agent, incoming.promise).then((seen) => {
        unacknowledged = seen;
      }),
    ]);
    udp.close();
    tcp.close();
    for (const socket of sockets) socket.destroy();
  });

  after(async () => {
    app.close();
    await agent.close();
    await server.close();
  });

  for (const protocol of ['udp', 'tcp']) {
    it(`the application gets 408 after 64*T1 without a response over ${protocol}`, () => {
      const outcome = outcomes.get(protocol);
      expect(outcome?.status).to.equal(408);
      expect(outcome?.afterMs).to.be.within(timeoutMs * 0.95, timeoutMs * 1.25 + 500);
    });
  }

  it('a 200 without ACK is repeated, and the call then ended with BYE', () => {
    expect(unacknowledged?.repeated).to.be.within(6, 12);
    expect(unacknowledged?.bye.method).to.equal('BYE');
  });
});

/** A caller that gets its 200 and never sends ACK. */
async function neverAcknowledged(
  app: App,
  agent: Agent,
  incoming: Promise<{ request: Request; response: Response }>,
): Promise<{ bye: Message; repeated: number }> {
  const call = agent.start('INVITE', `sip:service@${app.sip}`);
  let repeated = 0;
  const receive = call.receive.bind(call);
  call.receive = (message: SipResponse) => {
    if (message.status === 200) repeated += 1;
    receive(message);
  };
  const { response } = await incoming;
  response.send(200, { body: sdp() });
  const bye = await agent.request('BYE', LIMIT_MS);
  expect(header(bye.request, 'call-id')).to.equal(header(call.request, 'call-id'));
  bye.respond(200);
  return { bye: bye.request as unknown as Message, repeated };
}
