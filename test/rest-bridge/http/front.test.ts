import { expect } from 'chai';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { CUSTOM_METHODS } from '../../../rest-bridge/http/methods.ts';
import { type EchoServer, startEchoServer } from './echo-server.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from './raw-client.ts';

const HOST = 'Host: x\r\n';

async function callByNode(agent: Agent, port: number, method: string): Promise<string> {
  const request = httpRequest({ host: '127.0.0.1', port, method, path: '/a', agent });
  request.end('x');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  response.setEncoding('utf8');
  return (await response.toArray()).join('');
}

describe('strict framing front', () => {
  let server: EchoServer;
  let client: RawClient;

  beforeEach(async () => {
    server = await startEchoServer();
    client = await RawClient.open(server.port);
  });

  afterEach(async () => {
    client.close();
    await server.close();
  });

  it('routes every custom method as POST with a suffix', async () => {
    for (const method of CUSTOM_METHODS) {
      client.write(`${method} /a/b?c=!d HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhi`);
      expect((await client.answer())?.body).to.equal(`POST /a/b!${method.toLowerCase()}?c=!d hi`);
    }
  });

  it('closes the oldest connection without a request when there are too many, and none with one', async () => {
    const bounded = await startEchoServer({ mostSilent: 2 });
    const [first, second, third, fourth] = [
      await RawClient.open(bounded.port),
      await RawClient.open(bounded.port),
      await RawClient.open(bounded.port),
      await RawClient.open(bounded.port),
    ];
    // Opened one after the other: the first two made way for the last two.
    await eventually(async () => expect([first.ended, second.ended]).to.deep.equal([true, true]));
    fourth.write(`GET /a HTTP/1.1\r\n${HOST}\r\n`);
    expect((await fourth.answer())?.body).to.equal('GET /a ');
    const others = [await RawClient.open(bounded.port), await RawClient.open(bounded.port)];
    await eventually(async () => expect(third.ended).to.equal(true));
    expect(fourth.ended).to.equal(false);
    for (const one of [first, second, third, fourth, ...others]) one.close();
    await bounded.close();
  });

  it('passes native methods on unchanged', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      client.write(`${method} /a!b HTTP/1.1\r\n${HOST}\r\n`);
      expect((await client.answer())?.body).to.equal(`${method} /a!b `);
    }
  });

  it('answers pipelined requests in order', async () => {
    const requests = Array.from(
      { length: 20 },
      (_, n) => `LOOKUP /n/${n} HTTP/1.1\r\n${HOST}Content-Length: 1\r\n\r\n${n % 10}`,
    );
    client.write(requests.join(''));
    for (let n = 0; n < 20; n++) expect((await client.answer())?.body).to.equal(`POST /n/${n}!lookup ${n % 10}`);
  });

  it('sends the answers of one turn together, at its end', async () => {
    const other = await RawClient.open(server.port);
    const seen: string[] = [];
    server.server.on('request', (request, response) => {
      seen.push(`${request.url} came`);
      response.once('finish', () => seen.push(`${request.url} sent`));
    });
    // Both connections are open, so that the server finds both requests in one turn.
    for (const one of [client, other]) {
      one.write(`GET /first HTTP/1.1\r\n${HOST}\r\n`);
      await one.answer();
    }
    seen.length = 0;
    client.write(`GET /a HTTP/1.1\r\n${HOST}\r\n`);
    other.write(`GET /b HTTP/1.1\r\n${HOST}\r\n`);
    expect([(await client.answer())?.body, (await other.answer())?.body]).to.deep.equal(['GET /a ', 'GET /b ']);
    other.close();
    expect(seen).to.deep.equal(['/a came', '/b came', '/a sent', '/b sent']);
  });

  it('reads a request that comes byte by byte', async () => {
    const bytes = `REFER /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`;
    for (const byte of bytes) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.answer())?.body).to.equal('POST /a!refer abcde');
  });

  it('serves a client that sends Expect: 100-continue', async () => {
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`);
    await once(client.socket, 'data');
    expect(client.rest).to.match(/^HTTP\/1.1 100 /);
    client.write('hi');
    expect((await client.answer())?.body).to.equal('POST /a!invite hi');
  });

  it('answers a client that closed its sending half', async () => {
    client.write(`LOOKUP /a HTTP/1.1\r\n${HOST}\r\n`);
    client.socket.end();
    expect((await client.answer())?.body).to.equal('POST /a!lookup ');
    await client.end();
  });

  it('serves node:http clients that keep the connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await callByNode(agent, server.port, 'LOOKUP')).to.equal('POST /a!lookup x');
    expect(await callByNode(agent, server.port, 'SEND_DTMF')).to.equal('POST /a!send_dtmf x');
    agent.destroy();
  });

  it('carries a large body and answer under backpressure', async () => {
    const size = 3_000_000;
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}`);
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.resume();
    expect((await client.answer())?.body).to.have.lengthOf(size + 'POST /a!invite '.length);
  });

  it('answers good requests before it refuses a bad one in the same packet, then closes', async () => {
    client.write(
      `GET /1 HTTP/1.1\r\n${HOST}\r\nLOOKUP /2 HTTP/1.1\r\n${HOST}\r\nNONSENSE\r\n\r\nGET /4 HTTP/1.1\r\n${HOST}\r\n`,
    );
    expect((await client.answer())?.body).to.equal('GET /1 ');
    expect((await client.answer())?.body).to.equal('POST /2!lookup ');
    expect((await client.answer())?.body).to.equal('malformed');
    await client.end();
    expect(client.rest).to.equal('');
    expect(server.seen).to.deep.equal(['GET /1 0', 'POST /2!lookup 0']);
  });

  it('refuses a broken chunk and never completes the request', async () => {
    client.write(
      `GET /1 HTTP/1.1\r\n${HOST}\r\nINVITE /2 HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nab`,
    );
    expect((await client.answer())?.body).to.equal('GET /1 ');
    client.write('cX\r\n0\r\n\r\n');
    expect((await client.answer())?.body).to.equal('malformed');
    await client.end();
    expect(server.seen).to.deep.equal(['GET /1 0']);
  });

  it('drops what follows a request with Connection: close', async () => {
    client.write(`GET /1 HTTP/1.1\r\n${HOST}Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n${HOST}\r\n`);
    expect((await client.answer())?.body).to.equal('GET /1 ');
    await client.end();
    expect(server.seen).to.deep.equal(['GET /1 0']);
    expect(server.refusals).to.deep.equal([]);
  });

  it('refuses a connection that ends within a head or within a body', async () => {
    client.write(`GET /1 HTTP/1.1\r\nHos`);
    client.socket.end();
    expect((await client.answer())?.body).to.equal('malformed');
    const second = await RawClient.open(server.port);
    second.write(`POST /1 HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nabc`);
    second.socket.end();
    expect((await second.answer())?.body).to.equal('malformed');
    await second.end();
    expect(server.seen).to.deep.equal([]);
  });

  it('leaves no connection behind', async () => {
    client.write(`LOOKUP /a HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    await client.answer();
    await client.end();
    client.socket.end();
    const second = await RawClient.open(server.port);
    second.write('bad\r\n\r\n');
    await second.end();
    second.close();
    while (await new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count)))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

describe('strict framing front: upgrade', () => {
  const UPGRADE = `GET /ws HTTP/1.1\r\n${HOST}Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\r\n`;
  let server: EchoServer;
  let client: RawClient;

  beforeEach(async () => {
    server = await startEchoServer();
    client = await RawClient.open(server.port);
  });

  afterEach(async () => {
    client.close();
    await server.close();
  });

  it('passes bytes untouched after the upgrade, also those of the same packet', async () => {
    server.server.on('upgrade', (_request, socket: Duplex) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.on('data', (bytes: Buffer) => socket.write(bytes));
      socket.on('end', () => socket.end());
    });
    client.write(`LOOKUP /a HTTP/1.1\r\n${HOST}\r\n${UPGRADE}LOOKUP\n\0`);
    expect((await client.answer())?.body).to.equal('POST /a!lookup ');
    await client.until((text) => text.endsWith('LOOKUP\n\0'));
    client.write('\xff\x00 more');
    await client.until((text) => text.endsWith('\xff\x00 more'));
    client.socket.end();
    await client.end();
    expect(server.refusals).to.deep.equal([]);
  });

  it('continues with HTTP after a refused upgrade', async () => {
    client.write(`${UPGRADE}LOOKUP /a HTTP/1.1\r\n${HOST}\r\nSEND_DTMF /b HTTP/1.1\r\n${HOST}\r\n`);
    expect((await client.answer())?.body).to.equal('GET /ws ');
    expect((await client.answer())?.body).to.equal('POST /a!lookup ');
    expect((await client.answer())?.body).to.equal('POST /b!send_dtmf ');
  });

  it('ignores Upgrade: h2c although upgrades are accepted', async () => {
    server.server.on('upgrade', (_request, socket: Duplex) => socket.destroy());
    const wish = `POST /a HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\nx`;
    client.write(wish.repeat(2));
    expect((await client.answer())?.body).to.equal('POST /a x');
    expect((await client.answer())?.body).to.equal('POST /a x');
  });
});

describe('strict framing front: TLS', () => {
  it('reads custom methods, and marks the connection as encrypted', async function () {
    const tls = makeCertificate();
    if (!tls) {
      this.skip();
      return;
    }
    const server = await startEchoServer({ tls });
    const encrypted = once(server.server, 'request').then(
      ([request]: { socket: TLSSocket }[]) => request?.socket.encrypted,
    );
    const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const client = new RawClient(socket);
    client.write(`LOOKUP /a HTTP/1.1\r\n${HOST}\r\nINVITE /b HTTP/1.1\r\n${HOST}\r\n`);
    expect((await client.answer())?.body).to.equal('POST /a!lookup ');
    expect((await client.answer())?.body).to.equal('POST /b!invite ');
    expect(await encrypted).to.equal(true);
    client.close();
    await server.close();
  });
});
