import { expect } from 'chai';
import { once } from 'node:events';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { mock } from 'node:test';
import {
  DEFAULT_TCP_LIMITS,
  SipEndpoint,
  SipRequest,
  type SipTransportError,
} from '../../../runtime/embedded/stack/index.ts';
import { KeepAlive } from '../../../runtime/embedded/stack/keep-alive.ts';
import { StreamFramer } from '../../../runtime/embedded/stack/stream-framer.ts';
import { EXPIRED_CERTIFICATE, makeCertificate, type TestCertificate } from '../../support/certificate.ts';

const made = makeCertificate();

(made === undefined ? describe.skip : describe)('TLS connections that the SIP server opens', () => {
  const good = made ?? { cert: '', key: '' };
  const elsewhere = made === undefined ? good : (makeCertificate('DNS:other.example') ?? good);
  const endpoints: SipEndpoint[] = [];
  const servers: Server[] = [];

  afterEach(async () => {
    for (const endpoint of endpoints.splice(0)) await endpoint.close();
    for (const server of servers.splice(0)) {
      const closed = once(server, 'close');
      server.close();
      await closed;
    }
  });

  /** A SIP server with this certificate that answers every request with 200. */
  async function carrier(certificate: TestCertificate) {
    const seen: { sockets: TLSSocket[]; names: unknown[]; bytes: number } = { sockets: [], names: [], bytes: 0 };
    const server = createServer({ ...certificate }, (socket) => {
      seen.sockets.push(socket);
      seen.names.push(socket.servername);
      socket.on('error', () => undefined);
      socket.on('data', (data: Buffer) => {
        seen.bytes += data.length;
        const headers = data
          .toString()
          .split('\r\n')
          .filter((line) => /^(via|from|to|call-id|cseq):/i.test(line));
        socket.write(['SIP/2.0 200 OK', ...headers, 'Content-Length: 0', '', ''].join('\r\n'));
      });
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return { port: portOf(server), seen };
  }

  async function client(authorities: string): Promise<SipEndpoint> {
    const endpoint = new SipEndpoint({
      handler: { request: () => undefined, ack: () => undefined },
      trust: { authorities },
      tcpLimits: { ...DEFAULT_TCP_LIMITS, connectTimeout: 400 },
    });
    endpoints.push(endpoint);
    await endpoint.listenTls({ host: '127.0.0.1', port: 0 }, good);
    return endpoint;
  }

  /** Sends OPTIONS. @returns the status, or why there is none */
  function options(endpoint: SipEndpoint, host: string, port: number): Promise<number | string | undefined> {
    const request = new SipRequest('OPTIONS', `sip:${host}:${port};transport=tls`);
    for (const [name, value] of [
      ['From', '<sip:a@x>;tag=1'],
      ['To', '<sip:b@x>'],
      ['Call-ID', `${Math.random()}`],
      ['CSeq', '1 OPTIONS'],
      ['Max-Forwards', '70'],
    ] as const)
      request.add(name, value);
    return new Promise((resolve) => {
      endpoint.request(
        request,
        { transport: 'tls', host, port },
        {
          response: ({ status }) => resolve(status),
          failed: ({ reason, detail }: SipTransportError) => resolve(`${reason}: ${detail}`),
        },
      );
    });
  }

  it('are checked for the name, by SNI, and used again for that name; another name has one of its own', async () => {
    const [{ port, seen }, endpoint] = [await carrier(good), await client(good.cert)];
    expect(await options(endpoint, 'localhost', port)).to.equal(200);
    expect(await options(endpoint, 'localhost', port)).to.equal(200);
    expect(seen.names).to.deep.equal(['localhost']);
    // The Contact of a dialog may have the address alone.
    expect(await options(endpoint, '127.0.0.1', port)).to.equal(200);
    expect(seen.names).to.have.length(1);
    const ended = once(seen.sockets[0] as TLSSocket, 'close');
    seen.sockets[0]?.end();
    await ended;
    expect(await options(endpoint, '127.0.0.1', port)).to.equal(200);
    expect(seen.names).to.deep.equal(['localhost', 'localhost']);
  });

  for (const [what, certificate, authorities, why] of [
    [
      'an unknown authority',
      good,
      elsewhere.cert,
      /^insecure: its certificate is self-signed, and no known authority$/,
    ],
    [
      'an expired certificate',
      EXPIRED_CERTIFICATE,
      EXPIRED_CERTIFICATE.cert,
      /^insecure: its certificate has expired$/,
    ],
    ['another name', elsewhere, elsewhere.cert, /^insecure: its certificate is for another name: .*localhost/],
  ] as const) {
    it(`are refused with the reason for ${what}, and nothing is sent`, async () => {
      const [{ port, seen }, endpoint] = [await carrier(certificate), await client(authorities)];
      expect(await options(endpoint, 'localhost', port)).to.match(why);
      expect(seen.bytes).to.equal(0);
    });
  }

  it('fail with the reason where the far end does not speak TLS, closes, or is silent', async () => {
    const endpoint = await client(good.cert);
    const far = async (accept: (socket: Socket) => void): Promise<number> => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.resume();
        accept(socket);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
      return portOf(server);
    };
    const plain = await far((socket) => void socket.end('SIP/2.0 400 Bad Request\r\n\r\n'));
    expect(await options(endpoint, 'localhost', plain)).to.match(/^insecure: the TLS handshake failed: /);
    const closing = await far((socket) => void socket.destroy());
    expect(await options(endpoint, 'localhost', closing)).to.equal(
      'insecure: it closed the connection during the TLS handshake',
    );
    const silent = await far((socket) => void socket.setNoDelay(true));
    expect(await options(endpoint, 'localhost', silent)).to.equal('insecure: it did not finish the TLS handshake');
  });
});

describe('the keep-alive of a connection that the SIP server opened (RFC 5626)', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] }));
  afterEach(() => mock.timers.reset());

  function kept(): { keepAlive: KeepAlive; said: string[] } {
    const said: string[] = [];
    const connection = {
      ping: () => void said.push('ping'),
      idle: () => void said.push('idle'),
      dead: () => void said.push('dead'),
    };
    return { keepAlive: new KeepAlive(connection, { every: 100, answer: 10, idle: 250 }), said };
  }

  it('is a ping again and again, until no message has passed for long; one with a registration stays', () => {
    const { keepAlive, said } = kept();
    for (let time = 0; time < 3; time += 1) mock.timers.tick(100);
    expect(said).to.deep.equal(['ping', 'ping', 'idle']);
    keepAlive.message(true);
    mock.timers.tick(1000);
    expect(said.filter((what) => what === 'idle')).to.have.length(1);
    keepAlive.end();
  });

  it('finds a far end dead that has answered before, and no other', () => {
    const { keepAlive, said } = kept();
    keepAlive.message(true);
    mock.timers.tick(199);
    expect(said).to.deep.equal(['ping']);
    keepAlive.pong();
    mock.timers.tick(1);
    keepAlive.pong();
    mock.timers.tick(100);
    expect(said).to.not.include('dead');
    mock.timers.tick(10);
    expect(said).to.include('dead');
    keepAlive.end();
  });

  it('knows the answer to its ping from a ping of the far end', () => {
    const heard: string[] = [];
    const framer = new StreamFramer({
      message: () => undefined,
      ping: () => void heard.push('ping'),
      pong: () => void heard.push('pong'),
    });
    for (let time = 0; time < 2; time += 1) {
      framer.expectsPong = true;
      framer.push(Buffer.from('\r\n'));
    }
    framer.push(Buffer.from('\r\n\r\n'));
    expect(heard).to.deep.equal(['pong', 'pong', 'ping']);
  });
});

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
