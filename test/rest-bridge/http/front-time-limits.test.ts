import { expect } from 'chai';
import { type FrontOptions, senderKnown } from '../../../rest-bridge/http/front.ts';
import { type EchoServer, startEchoServer } from './echo-server.ts';
import { RawClient } from './raw-client.ts';

const HOST = 'Host: x\r\n';

describe('strict framing front: time limits', () => {
  let opened: { close(): unknown }[] = [];

  afterEach(async () => {
    for (const each of opened.toReversed()) await each.close();
    opened = [];
  });

  async function serve(options: Partial<FrontOptions>): Promise<EchoServer> {
    const server = await startEchoServer(options);
    opened.push(server);
    return server;
  }

  async function connect(port: number): Promise<RawClient> {
    const client = await RawClient.open(port);
    opened.push(client);
    return client;
  }

  it('refuses a dripping head, and one that stops', async () => {
    const server = await serve({ headTimeoutMs: 60 });
    const client = await connect(server.port);
    client.write('GET /a HTTP/1.1\r\n');
    const drip = setInterval(() => client.write('a'), 10);
    const answer = await client.answer();
    clearInterval(drip);
    expect(answer?.body).to.equal('timeout');
  });

  it('restarts the time with every head, also within a packet', async () => {
    const server = await serve({ headTimeoutMs: 1000 });
    const client = await connect(server.port);
    client.write('GET /0 HTTP/1.1\r\nHost: x\r\n');
    for (let n = 1; n <= 3; n++) {
      await new Promise((resolve) => setTimeout(resolve, 550));
      client.write(`\r\nGET /${n} HTTP/1.1\r\nHost: x\r\n`);
      expect((await client.answer())?.body).to.equal(`GET /${n - 1} `);
    }
    expect(server.refusals).to.deep.equal([]);
  });

  it('refuses a missing body, and closes a silent connection', async () => {
    const server = await serve({ silentTimeoutMs: 100, bodyLimits: { graceMs: 100 } });
    const client = await connect(server.port);
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nabc`);
    const silent = await connect(server.port);
    expect((await client.answer())?.body).to.equal('timeout');
    expect((await silent.answer())?.body).to.equal('timeout');
    expect(server.seen).to.deep.equal([]);
  });

  /** Sends a body of 10 bytes every 20 ms, 500 bytes a second, until it is complete or refused. */
  const drip = async (port: number, bytes: number): Promise<string | undefined> => {
    const client = await connect(port);
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: ${bytes}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < bytes) client.write('x'.repeat(10));
      sent += 10;
    }, 20);
    const answer = await client.answer();
    clearInterval(timer);
    return answer?.body;
  };

  it('refuses a body below the minimum rate', async () => {
    const server = await serve({ bodyLimits: { graceMs: 200, bytesPerSecond: 5_000 } });
    const client = await connect(server.port);
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`);
    const timer = setInterval(() => client.write('1\r\nx\r\n'), 20);
    const answer = await client.answer();
    clearInterval(timer);
    expect(answer?.body).to.equal('timeout');
    await client.end();
    expect(server.seen).to.deep.equal([]);
  });

  it('accepts a body at the minimum rate from an authenticated sender only', async () => {
    const server = await serve({ bodyLimits: { graceMs: 200, bytesPerSecond: 100, strangerMs: 300 } });
    expect(await drip(server.port, 400)).to.equal('timeout');
    server.server.on('request', (request) => senderKnown(request));
    expect(await drip(server.port, 400)).to.equal(`POST /a!invite ${'x'.repeat(400)}`);
  });

  it('refuses a body that stops for too long at any point', async () => {
    const server = await serve({ bodyLimits: { graceMs: 300, silenceMs: 100 } });
    server.server.on('request', (request) => senderKnown(request));
    const client = await connect(server.port);
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: 1000001\r\n\r\n`);
    client.write('x'.repeat(1_000_000));
    expect((await client.answer())?.body).to.equal('timeout');
  });

  it('does not count the time in which the server itself does not read', async () => {
    const server = await serve({ bodyLimits: { graceMs: 100, silenceMs: 100, strangerMs: 20_000 } });
    server.server.on('request', (request) => {
      request.pause();
      setTimeout(() => request.resume(), 500);
    });
    const client = await connect(server.port);
    const size = 3_000_000;
    client.write(`INVITE /a HTTP/1.1\r\n${HOST}Content-Length: ${size}\r\n\r\n${'x'.repeat(size)}`);
    expect((await client.answer())?.body).to.have.lengthOf(size + 'POST /a!invite '.length);
  });

  it('lets a client read the answer to an upload that it is still sending', async () => {
    const server = await serve({ lingerMs: 2_000 });
    const client = await connect(server.port);
    client.write('bad /a HTTP/1.1\r\n\r\n');
    for (let n = 0; n < 20; n++) client.write('x'.repeat(100_000));
    expect((await client.answer())?.body).to.equal('unknown-method');
  });
});
