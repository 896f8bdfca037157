import { expect } from 'chai';
import * as fc from 'fast-check';
import { RawClient } from './http/raw-client.ts';
import { holdOperation } from './support/held-operation.ts';
import { RestNode } from './support/rest-node.ts';

const INVITE_BODY = '{"from":"1","to":"2"}';

/** Settles when the server holds no connection any more. */
async function untilNoConnection(node: RestNode): Promise<void> {
  const count = () => new Promise<number>((resolve) => node.app.server.getConnections((_error, open) => resolve(open)));
  while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('REST: connections', () => {
  let node: RestNode;
  let auth: string;
  beforeEach(async () => {
    node = await RestNode.start({ bodyLimit: 1_000 });
    auth = `Host: x\r\nAuthorization: Bearer ${await node.token()}\r\n`;
  });
  afterEach(() => node.close());

  it('lets a client read 413 while it is still sending', async () => {
    const client = await RawClient.open(node.port);
    const size = 4_000_000;
    client.write(
      `LOOKUP /rest/v1/uc/calls HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
    );
    for (let sent = 0; sent < size; sent += 100_000) client.write('x'.repeat(100_000));
    expect((await client.answer())?.status).to.equal(413);
    client.close();
    await untilNoConnection(node);
  });

  it('answers 401 before reading a body, and serves the next request of the connection', async () => {
    const client = await RawClient.open(node.port);
    client.write(
      'LOOKUP /rest/v1/uc/calls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n12345',
    );
    expect((await client.answer())?.status).to.equal(401);
    client.write(
      `67890LOOKUP /rest/v1/uc/calls HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{"dialogid":"no"}`,
    );
    expect((await client.answer())?.status).to.equal(404);
    client.close();
  });

  it('keeps no resources of clients that disconnect at any point', async () => {
    const request = `INVITE /rest/v1/uc/calls HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: ${INVITE_BODY.length}\r\n\r\n${INVITE_BODY}`;
    for (let at = 0; at <= request.length; at += 9) {
      const client = await RawClient.open(node.port);
      client.write(request.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      client.socket.resetAndDestroy();
    }
    await untilNoConnection(node);
    expect(node.log.filter((line) => line.includes('"level":50'))).to.deep.equal([]);
  });

  it('survives random input', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (pieces, prefixed) => {
          const client = await RawClient.open(node.port);
          if (prefixed) client.write(`LOOKUP /rest/v1/uc/calls HTTP/1.1\r\n${auth}`);
          for (const piece of pieces) client.socket.write(piece);
          client.socket.end();
          await client.end();
          if (client.rest !== '') expect(client.rest).to.match(/^HTTP\/1\.1 [45]\d\d /);
          client.close();
        },
      ),
      { seed: 7, numRuns: 150 },
    );
    await untilNoConnection(node);
    expect((await node.call('GET', '/healthz')).status).to.equal(200);
  });

  it('answers 408/1408 to a login with an endless body, and continues a slow upload of a user', async () => {
    const slow = await RestNode.start({ bodyLimits: { graceMs: 15_000, bytesPerSecond: 20, strangerMs: 300 } });
    const drip = async (head: string): Promise<RawClient> => {
      const client = await RawClient.open(slow.port);
      client.write(`${head}Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{`);
      // An octet every 10 ms, also when this process is late.
      const start = performance.now();
      let written = 0;
      const timer = setInterval(() => {
        const due = Math.floor((performance.now() - start) / 10) - written;
        client.write(' '.repeat(due));
        written += due;
      }, 10);
      client.socket.once('close', () => clearInterval(timer));
      return client;
    };
    const login = await drip('POST /rest/v1/iam/sessions HTTP/1.1\r\nHost: x\r\n');
    const refused = await login.answer();
    expect([refused?.status, refused?.headers['connection']]).to.deep.equal([408, 'close']);
    expect(refused?.body).to.include('"error_code":1408').and.include('without a session');
    await login.end();
    login.close();
    const token = `Authorization: Bearer ${await slow.token()}\r\n`;
    const lookup = await drip(`LOOKUP /rest/v1/uc/calls HTTP/1.1\r\nHost: x\r\n${token}`);
    // 60 bytes take 600 ms, twice the limit of strangers; they are no JSON.
    expect((await lookup.answer())?.status).to.equal(400);
    lookup.close();
    await untilNoConnection(slow);
    await slow.close();
  });

  it('closes at once despite connections that are idle, silent, or within a head', async () => {
    const idle = await RawClient.open(node.port);
    idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.answer();
    const silent = await RawClient.open(node.port);
    const partial = await RawClient.open(node.port);
    partial.write('GET /healthz HT');
    await new Promise((resolve) => setImmediate(resolve));
    await node.app.close();
    await Promise.all([idle.end(), silent.end(), partial.end()]);
  });

  it('waits for a running operation when it closes', async () => {
    const held = holdOperation(node);
    const client = await RawClient.open(node.port);
    client.write(
      `INVITE /rest/v1/uc/calls HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: ${INVITE_BODY.length}\r\n\r\n${INVITE_BODY}`,
    );
    await held.started;
    const closed = node.app.close();
    await new Promise((resolve) => setImmediate(resolve));
    held.finish();
    const answer = await client.answer();
    expect([answer?.status, answer?.headers['connection']]).to.deep.equal([200, 'close']);
    await client.end();
    client.close();
    await closed;
  });
});
