import { createServer } from 'node:net';
import { expect } from 'chai';
import { ListenError } from '../../../runtime/embedded/index.ts';
import {
  type ClientTransaction,
  type Destination,
  destinationOf,
  type ListeningPoint,
  newCallId,
  type ServerTransaction,
  SipEndpoint,
  type SipEndpointHandler,
  type SipEndpointOptions,
  SipRequest,
  type SipResponse,
  SipTransportError,
  token,
} from '../../../runtime/embedded/stack/index.ts';

const FAST = { t1: 20, t2: 160, t4: 60, d: 200 };

interface Started {
  readonly endpoint: SipEndpoint;
  readonly point: ListeningPoint;
}

function build(method: string, to: Destination): SipRequest {
  return new SipRequest(method, `sip:bob@${to.host}:${to.port};transport=${to.transport}`)
    .add('Max-Forwards', '70')
    .add('From', `<sip:alice@127.0.0.1>;tag=${token()}`)
    .add('To', `<sip:bob@${to.host}>`)
    .add('Call-ID', newCallId())
    .add('CSeq', `1 ${method}`)
    .add('Contact', '<sip:alice@127.0.0.1>');
}

/** The ACK of a 2xx. */
function ackOf(invite: SipRequest, response: SipResponse): SipRequest {
  return new SipRequest('ACK', invite.uri)
    .add('From', invite.header('from') ?? '')
    .add('To', response.header('to') ?? '')
    .add('Call-ID', invite.callId)
    .add('CSeq', `${invite.cseq.number} ACK`);
}

describe('SIP endpoint', () => {
  const open: SipEndpoint[] = [];
  afterEach(async () => {
    for (const endpoint of open.splice(0)) {
      await endpoint.close();
      expect(endpoint.timers.size).to.equal(0);
    }
  });

  async function start(
    handler: Partial<SipEndpointHandler> = {},
    more: Partial<SipEndpointOptions> = {},
  ): Promise<Started> {
    const endpoint = new SipEndpoint({
      handler: { request: (transaction) => void transaction.reply(200), ...handler },
      timerValues: FAST,
      ...more,
    });
    open.push(endpoint);
    return { endpoint, point: await endpoint.listen({ host: '127.0.0.1', port: 0 }) };
  }

  /** Sends a request; resolves with its final response, rejects with the failure. */
  function exchange(
    endpoint: SipEndpoint,
    request: SipRequest,
    destination: Destination,
    seen: (response: SipResponse, transaction: ClientTransaction) => void = () => undefined,
  ): Promise<SipResponse> {
    return new Promise((resolve, reject) => {
      const transaction = endpoint.request(request, destination, {
        response: (response) => {
          seen(response, transaction);
          if (response.status >= 200) resolve(response);
        },
        failed: reject,
      });
    });
  }

  for (const transport of ['udp', 'tcp'] as const) {
    const at = ({ point }: Started): Destination => ({ transport, host: point.host, port: point.port });

    it(`sends requests and responses over ${transport}`, async () => {
      const server = await start({
        request: (transaction) =>
          void transaction.reply(200, { reason: 'Fine', headers: { 'X-A': ['1', '2'] }, body: 'hello' }),
      });
      const client = await start();
      const response = await exchange(client.endpoint, build('MESSAGE', at(server)), at(server));
      expect(response.reason).to.equal('Fine');
      expect(response.values('x-a')).to.deep.equal(['1', '2']);
      expect(response.body.toString()).to.equal('hello');
      expect(response.toTag).to.match(/^[0-9A-Z]{13}$/);
      expect(response.source?.port).to.equal(server.point.port);
    });

    it(`hands the ACK of a 2xx to the INVITE's transaction over ${transport}`, async () => {
      const acked = Promise.withResolvers<SipRequest>();
      const server = await start({
        request: (transaction) => {
          transaction.onAck = acked.resolve;
          transaction.reply(180);
          transaction.reply(200, { headers: { Contact: '<sip:bob@127.0.0.1>' } });
        },
      });
      const client = await start();
      const invite = build('INVITE', at(server));
      const statuses: number[] = [];
      await exchange(client.endpoint, invite, at(server), (response, transaction) => {
        statuses.push(response.status);
        if (response.status === 200) client.endpoint.sendAck(transaction, ackOf(invite, response), at(server));
      });
      expect(statuses).to.deep.equal([100, 180, 200]);
      expect((await acked.promise).callId).to.equal(invite.callId);
      expect(server.endpoint.stats.pendingAcks).to.equal(0);
    });

    it(`reports a 2xx without ACK over ${transport}`, async () => {
      const missing = Promise.withResolvers<string>();
      const server = await start({ ackMissing: ({ request }) => missing.resolve(request.callId) });
      const client = await start();
      const invite = build('INVITE', at(server));
      await exchange(client.endpoint, invite, at(server));
      expect(await missing.promise).to.equal(invite.callId);
    });

    it(`reports a closed port over ${transport}`, async () => {
      const client = await start();
      const destination: Destination = { transport, host: '127.0.0.1', port: 1 };
      const error = await exchange(client.endpoint, build('OPTIONS', destination), destination).catch(
        (e: unknown) => e,
      );
      expect(error).to.be.instanceOf(SipTransportError).with.property('reason', 'refused');
    });

    it(`reports a closed port before any retransmission over ${transport}`, async () => {
      const client = await start({}, { timerValues: { ...FAST, t1: 60_000 } });
      const destination: Destination = { transport, host: '127.0.0.1', port: 1 };
      const failure = exchange(client.endpoint, build('INVITE', destination), destination).catch((e: unknown) => e);
      expect(await failure)
        .to.be.instanceOf(SipTransportError)
        .with.property('reason', 'refused');
    });

    it(`times out with a silent peer over ${transport}`, async () => {
      const server = await start({ request: () => undefined });
      const client = await start();
      const error = await exchange(client.endpoint, build('OPTIONS', at(server)), at(server)).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(SipTransportError).with.property('reason', 'timeout');
    });
  }

  for (const host of ['255.255.255.255', '240.0.0.1']) {
    it(`reports ${host} as unreachable, also on a second attempt`, async () => {
      const client = await start();
      const destination: Destination = { transport: 'udp', host, port: 5060 };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const failure = exchange(client.endpoint, build('OPTIONS', destination), destination).catch((e: unknown) => e);
        expect(await failure)
          .to.be.instanceOf(SipTransportError)
          .with.property('reason', 'unreachable');
      }
    });
  }

  for (const transport of ['udp', 'tcp'] as const) {
    it(`reports port 0 as unreachable over ${transport}`, async () => {
      const client = await start();
      const destination: Destination = { transport, host: '127.0.0.1', port: 0 };
      const failure = exchange(client.endpoint, build('OPTIONS', destination), destination).catch((e: unknown) => e);
      expect(await failure)
        .to.be.instanceOf(SipTransportError)
        .with.property('reason', 'unreachable');
      expect(() => client.endpoint.send(build('ACK', destination), destination)).not.to.throw();
    });
  }

  it('uses its own socket for recently heard peers, and a separate one for others', async () => {
    const server = await start();
    const client = await start();
    const destination: Destination = { transport: 'udp', host: '127.0.0.1', port: server.point.port };
    const listening = client.endpoint.stats.sockets;
    const first = exchange(client.endpoint, build('OPTIONS', destination), destination);
    expect(client.endpoint.stats.sockets).to.equal(listening + 1);
    await first;
    const other = await start();
    const heard = exchange(server.endpoint, build('OPTIONS', destination), { ...destination, port: client.point.port });
    const sockets = server.endpoint.stats.sockets;
    await heard;
    expect(sockets, 'the server, which got a request from there').to.equal(other.endpoint.stats.sockets);
  });

  it('leaves the response to a cancelled INVITE to its user', async () => {
    const server = await start({
      request: (transaction) => {
        transaction.onCancel = () => void transaction.reply(480);
        transaction.reply(180);
      },
    });
    const client = await start();
    const destination: Destination = { transport: 'udp', host: '127.0.0.1', port: server.point.port };
    const response = await exchange(
      client.endpoint,
      build('INVITE', destination),
      destination,
      ({ status }, transaction) => {
        if (status === 180) transaction.cancel([['Reason', 'SIP;cause=200']]);
      },
    );
    expect(response.status).to.equal(480);
  });

  it('fails the requests on a connection that its peer closes', async () => {
    const closing = createServer((socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const address = closing.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const client = await start();
      const destination: Destination = { transport: 'tcp', host: '127.0.0.1', port };
      const error = await exchange(client.endpoint, build('OPTIONS', destination), destination).catch(
        (e: unknown) => e,
      );
      expect(error).to.be.instanceOf(SipTransportError).with.property('reason', 'closed');
    } finally {
      closing.close();
    }
  });

  it('answers 503 without state when it has too many transactions', async () => {
    const server = await start({ request: () => undefined }, { maxServerTransactions: 2 });
    const client = await start();
    const destination: Destination = { transport: 'tcp', host: '127.0.0.1', port: server.point.port };
    const answers = Array.from({ length: 3 }, () =>
      exchange(client.endpoint, build('OPTIONS', destination), destination),
    );
    expect((await Promise.any(answers)).status).to.equal(503);
    expect(server.endpoint.stats.serverTransactions).to.equal(2);
    await Promise.allSettled(answers);
  });

  it('reports a name without address, and a missing transport', async () => {
    const client = await start();
    const destination: Destination = { transport: 'udp', host: 'no-such-host.invalid', port: 5060 };
    const error = await exchange(client.endpoint, build('OPTIONS', destination), destination).catch((e: unknown) => e);
    expect(error).to.have.property('reason', 'unresolved');
    for (const uri of ['sip:a@b;transport=sctp', 'sips:a@b;transport=udp', 'tel:101'])
      expect(() => destinationOf(uri), uri)
        .to.throw(SipTransportError)
        .with.property('reason', 'no-transport');
    const secure: Destination = { transport: 'tls', host: '127.0.0.1', port: 5061 };
    expect(() => client.endpoint.request(build('OPTIONS', secure), secure, { response: () => {}, failed: () => {} }))
      .to.throw(SipTransportError)
      .with.property('reason', 'no-transport');
    expect(destinationOf('sips:a@b')).to.deep.equal({ transport: 'tls', host: 'b', port: 5061 });
    expect(destinationOf('sips:a@b:1;transport=ws')).to.deep.equal({ transport: 'wss', host: 'b', port: 1 });
    expect(destinationOf('sip:a@b;transport=tls')).to.deep.equal({ transport: 'tls', host: 'b', port: 5061 });
    expect(destinationOf('sip:a@b;transport=TCP;maddr=c')).to.deep.equal({ transport: 'tcp', host: 'c', port: 5060 });
    expect(destinationOf('sip:a@b;maddr=')).to.deep.equal({ transport: 'udp', host: 'b', port: 5060 });
    const nowhere: Destination = { transport: 'udp', host: '', port: 5060 };
    const none = await exchange(client.endpoint, build('OPTIONS', destination), nowhere).catch((e: unknown) => e);
    expect(none).to.have.property('reason', 'unresolved');
  });

  it('does not share its port, and refuses a taken one', async () => {
    const { point } = await start();
    const second = new SipEndpoint({ handler: { request: () => undefined } });
    for (const listen of [second.listen.bind(second), second.listenTcp.bind(second)]) {
      const error = await listen({ host: '127.0.0.1', port: point.port }).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(ListenError).with.property('code', 'EADDRINUSE');
    }
    const unroutable = await second.listenUdp({ host: '192.0.2.1', port: 0 }).catch((e: unknown) => e);
    expect(unroutable).to.be.instanceOf(ListenError).with.property('code', 'EADDRNOTAVAIL');
    await second.close();
  });

  it('sends 100 only without another response within the delay', async () => {
    const invites: ServerTransaction[] = [];
    const request = (transaction: ServerTransaction): void => {
      invites.push(transaction);
      if (transaction.request.header('x-at-once') !== undefined) transaction.reply(486);
    };
    const server = await start({ request }, { tryingDelay: 40 });
    // A retransmission on a busy machine must not add an INVITE.
    const client = await start({}, { timerValues: { ...FAST, t1: 5000 } });
    const destination: Destination = { transport: 'udp', host: server.point.host, port: server.point.port };
    const statuses: number[] = [];
    const quick = build('INVITE', destination).add('X-At-Once', 'yes');
    await exchange(client.endpoint, quick, destination, ({ status }) => statuses.push(status));
    const slow = build('INVITE', destination);
    await exchange(client.endpoint, slow, destination, ({ status }) => {
      statuses.push(status);
      if (status === 100) invites[1]?.reply(603);
    });
    expect(statuses).to.deep.equal([486, 100, 603]);
  });
});
