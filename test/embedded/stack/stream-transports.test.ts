import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { DEFAULT_TCP_LIMITS, SipEndpoint, type SipEndpointOptions } from '../../../runtime/embedded/stack/index.ts';
import { FORWARDED_HEADER } from '../../../runtime/embedded/stack/websocket-rules.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';

const OPTIONS = (transport: string): string =>
  [
    'OPTIONS sip:a@x SIP/2.0',
    `Via: SIP/2.0/${transport} h4x.invalid;branch=z9hG4bK${Math.random()}`,
    'Max-Forwards: 70',
    'From: <sip:a@x>;tag=1',
    'To: <sip:a@x>',
    `Call-ID: ${Math.random()}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');

describe('SIP over TLS and WebSockets', () => {
  let endpoint: SipEndpoint | undefined;
  const sockets: WebSocket[] = [];
  const sources: string[] = [];
  const refused: string[] = [];

  const start = (options: Partial<SipEndpointOptions> = {}): SipEndpoint => {
    endpoint = new SipEndpoint({
      handler: {
        request: (transaction) => {
          const { transport, address, port } = transaction.source;
          sources.push(`${transport}/${address}:${port}`);
          transaction.reply(200);
        },
        ack: () => undefined,
        refused: (reason) => void refused.push(reason),
      },
      ...options,
    });
    return endpoint;
  };

  const open = async (url: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const webSocket = new WebSocket(url, 'sip', { headers });
    sockets.push(webSocket);
    webSocket.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      webSocket.once('open', () => resolve());
      webSocket.once('close', () => resolve());
    });
    return webSocket;
  };

  const answer = async (webSocket: WebSocket, message: string): Promise<string> => {
    const answered = once(webSocket, 'message');
    webSocket.send(message);
    return String((await answered)[0]);
  };

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await endpoint?.close();
    sources.length = 0;
    refused.length = 0;
  });

  it('a WebSocket carries a message in each frame, and answers keep-alives (RFC 5626)', async () => {
    const point = await start().listenWebSocket({ host: '127.0.0.1', port: 0 }, {});
    const webSocket = await open(`ws://127.0.0.1:${point.port}`);
    expect(await answer(webSocket, '\r\n\r\n')).to.equal('\r\n');
    const response = await answer(webSocket, OPTIONS('WS'));
    expect(response).to.match(/^SIP\/2\.0 200 OK\r\nVia: SIP\/2\.0\/WS h4x\.invalid;.*rport=\d+;received=127\.0\.0\.1/);
    expect(await answer(webSocket, 'OPTIONS sip:a@x SIP/2.0\r\nVia: SIP/2.0/WS x;branch=z9hG4bK1\r\n\r\n')).to.match(
      /^SIP\/2\.0 400 /,
    );
  });

  it('a frame that is larger than a message may be closes its WebSocket', async () => {
    const point = await start().listenWebSocket({ host: '127.0.0.1', port: 0 }, {});
    const webSocket = await open(`ws://127.0.0.1:${point.port}`);
    const closed = once(webSocket, 'close');
    webSocket.send('x'.repeat(300_000));
    expect((await closed)[0]).to.equal(1009);
    await eventually(async () => expect(endpoint?.stats.sockets).to.equal(1));
  });

  it('TLS answers keep-alives between messages, and calls go back over the connection', async function () {
    const certificate = makeCertificate();
    if (certificate === undefined) {
      this.skip();
      return;
    }
    const server = start();
    const point = await server.listenTls({ host: '127.0.0.1', port: 0 }, certificate);
    const socket = connectTls({ host: '127.0.0.1', port: point.port, ca: certificate.cert }).setEncoding('utf8');
    await once(socket, 'secureConnect');
    socket.write('\r\n\r\n');
    expect(await once(socket, 'data')).to.deep.equal(['\r\n']);
    socket.write(OPTIONS('TLS'));
    expect(String((await once(socket, 'data'))[0])).to.match(/^SIP\/2\.0 200 OK\r\nVia: SIP\/2\.0\/TLS /);
    const back = { transport: 'tls', host: '127.0.0.1', port: socket.localPort ?? 0 } as const;
    expect(server.isConnected(back)).to.equal(true);
    expect(server.addressFor(back)).to.deep.equal(point);
    socket.destroy();
    await eventually(async () => expect(server.isConnected(back)).to.equal(false));
  });

  it('the oldest silent connection makes way for the next one', async () => {
    const server = start({ tcpLimits: { ...DEFAULT_TCP_LIMITS, maxSilent: 20 } });
    const point = await server.listenWebSocket({ host: '127.0.0.1', port: 0 }, {});
    const phone = await open(`ws://127.0.0.1:${point.port}`);
    await answer(phone, OPTIONS('WS'));
    const silent = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const socket = connect(point.port, '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    await eventually(async () => expect(server.stats.sockets).to.equal(1 + 1 + 20));
    expect(await answer(await open(`ws://127.0.0.1:${point.port}`), OPTIONS('WS'))).to.match(/ 200 OK/);
    expect(await answer(phone, OPTIONS('WS'))).to.match(/ 200 OK/);
    for (const socket of silent) socket.destroy();
  });

  it('an unfinished handshake ends after its time', async () => {
    const server = start({ tcpLimits: { ...DEFAULT_TCP_LIMITS, messageTimeout: 100 } });
    const point = await server.listenWebSocket({ host: '127.0.0.1', port: 0 }, {});
    const socket = connect(point.port, '127.0.0.1').resume();
    socket.write('GET /sip HTTP/1.1\r\nHost: x\r\n');
    await once(socket, 'close');
    await eventually(async () => expect(server.stats.sockets).to.equal(1));
  });

  it('a proxy with the secret names the address and the transport of a phone, and nobody else connects', async () => {
    const forwarded = { secret: 's3cret', host: '192.0.2.10' };
    const server = start();
    const point = await server.listenWebSocket({ host: '127.0.0.1', port: 0 }, { forwarded });
    const url = `ws://127.0.0.1:${point.port}/sip`;
    const phone = await open(url, { [FORWARDED_HEADER]: 's3cret wss 198.51.100.7 4711' });
    expect(await answer(phone, OPTIONS('WSS'))).to.match(/rport=4711;received=198\.51\.100\.7/);
    expect(sources).to.deep.equal(['wss/198.51.100.7:4711']);
    expect(server.addressFor({ transport: 'ws', host: '198.51.100.7', port: 4711 })).to.deep.include({
      transport: 'wss',
      host: '192.0.2.10',
    });
    for (const header of ['wrong! wss 198.51.100.7 4712', '']) await open(url, { [FORWARDED_HEADER]: header });
    await eventually(async () => expect(refused).to.have.length(2));
  });
});
