import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { MAX_ANSWER_BYTES, MAX_RUNNING, Turns } from '../../rest-bridge/events/turns.ts';
import { DataNode, type Who } from './support/data-node.ts';
import { FrameClient } from './support/frame-client.ts';

const ADMIN: Who = 'admin@demo.local';

describe('REST: a WebSocket', function () {
  this.timeout(60_000);
  let node: DataNode;
  const clients: WebSocket[] = [];
  before(async () => {
    node = await DataNode.start();
    const properties = [
      { name: 'text', data_type: 'string' },
      { name: 'file', data_type: 'attachment' },
    ];
    await node.as(ADMIN, 'POST', '/domain/classes', { classname: 'notes', storage_mode: 'category', properties });
    await node.as(ADMIN, 'POST', '/model/notes', { id: 'a', text: 'x' });
  });
  afterEach(() => {
    for (const socket of clients.splice(0)) socket.terminate();
  });
  after(() => node.close());

  const open = async (who: Who = ADMIN): Promise<FrameClient> => {
    const headers = { authorization: `Bearer ${await node.token(who)}` };
    const socket = new WebSocket(`ws://127.0.0.1:${node.port}/ws`, { headers });
    clients.push(socket);
    const client = new FrameClient(socket);
    await once(socket, 'open');
    return client;
  };
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it('survives deeply nested frames', async () => {
    const client = await open();
    for (const frame of [
      `["ping",{"qid":${nested(100_000)}}]`,
      `["subscribe",{"qid":1,"exargs":{"filter":${nested(100_000)}}}]`,
      `["rest",{"qid":1,"method":"POST","path":"/model/notes","body":{"text":${nested(100_000)}}}]`,
      nested(100_000),
      '["ping",{"qid":{}}]',
    ]) {
      client.socket.send(frame);
      expect((await client.next())[1], frame.slice(0, 40)).to.include({ result: 'error', error_code: 1400 });
    }
    expect(await client.ask('ping', { qid: 'lives' })).to.include({ qid: 'lives', result: 'ok' });
  });

  it('and HTTP survive deeply nested bodies', async () => {
    const reply = await fetch(`http://127.0.0.1:${node.port}/rest/v1/uc/calls`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await node.token(ADMIN)}`,
        'content-type': 'application/json',
        'idempotency-key': 'deep',
      },
      body: `{"from":"101","to":"102","x":${nested(100_000)}}`,
    });
    expect(await reply.json()).to.deep.include({
      error_code: 1400,
      error_details: { field: 'body', reason: 'nests more than 128 deep' },
    });
  });

  it('runs pipelined requests, each in its turn', async () => {
    const client = await open();
    const count = 10 * MAX_RUNNING;
    for (let qid = 0; qid < count; qid++) {
      client.socket.send(
        JSON.stringify(['rest', { qid, method: 'GET', path: '/model/notes/a', query: { mask: 'text' } }]),
      );
    }
    const answered = new Set<unknown>();
    while (answered.size < count) {
      const [method, { qid, status, body }] = await client.next();
      expect([method, status, body]).to.deep.equal(['rest_result', 200, { text: 'x' }]);
      answered.add(qid);
    }
  });

  it('answers HEAD, and refuses paths that resolve to others', async () => {
    const client = await open();
    const ask = (method: string, path: string) => client.ask('rest', { method, path });
    expect(await ask('HEAD', '/model/notes/a')).to.deep.equal({ result: 'ok', status: 200, body: '' });
    expect(await ask('POST', '/model/notes/a!head')).to.include({ status: 200, body: '' });
    await node.as(ADMIN, 'POST', '/model/notes', { id: String.raw`b\1` });
    for (const path of ['/model/notes/a#1', String.raw`/model/notes/b\1`]) {
      expect(await ask('DELETE', path)).to.include({ result: 'error', status: 400 });
    }
    expect(await ask('DELETE', '/model/notes/b%5C1')).to.include({ status: 204 });
    expect(await ask('GET', '/model/notes/a')).to.include({ status: 200 });
  });

  it('answers files, except those that would fill the memory', async () => {
    const client = await open();
    const read = async (name: string, content: Buffer): Promise<Record<string, unknown>> => {
      const authorization = `Bearer ${await node.token(ADMIN)}`;
      const uploaded = await fetch(`http://127.0.0.1:${node.port}/rest/v1/model/notes/a/file`, {
        method: 'PUT',
        headers: {
          authorization,
          'content-type': 'application/octet-stream',
          'content-disposition': `form-attachment; filename=${name}`,
        },
        body: new Uint8Array(content),
      });
      expect(uploaded.status).to.equal(200);
      return await client.ask('rest', { qid: 1, method: 'GET', path: '/model/notes/a/file' });
    };
    const bytes = Buffer.from([0x89, 0xff, 0xfe, 0]);
    expect(await read('a.png', bytes)).to.include({ encoding: 'base64', body: bytes.toString('base64') });
    expect(await read('a.txt', Buffer.from('a"ä'))).to.deep.include({ qid: 1, body: 'a"ä' });
    expect(await read('a.json', Buffer.from('{"a":[1]}'))).to.deep.include({ body: { a: [1] } });
    expect(await read('a.json', Buffer.from('1}],"x'))).to.include({ body: '1}],"x' });
  });

  it('limits unsent answers and waiting requests', async () => {
    const turns = new Turns();
    expect([turns.take(MAX_ANSWER_BYTES), turns.take(1)]).to.deep.equal([true, false]);
    turns.give(MAX_ANSWER_BYTES);
    expect(turns.take(1)).to.equal(true);

    const ends: (() => void)[] = [];
    for (let n = 0; n < MAX_RUNNING; n++) ends.push(await turns.next(100));
    const began: number[] = [];
    const waiting = [1, 2].map(async (n) => {
      const end = await turns.next(500_000);
      began.push(n);
      return end;
    });
    const refused = await turns.next(500_000).catch((error: unknown) => error);
    expect(refused).to.include({ status: 503 });
    for (const end of ends.slice(0, 2)) end();
    await Promise.all(waiting);
    expect(began).to.deep.equal([1, 2]);
  });

  it('renews its subscription with continued numbers', async () => {
    const client = await open();
    const tell = (id: string) => node.as(ADMIN, 'POST', '/model/notes', { id });
    const selection = { id: 'same', events: ['modelevents'], classpath: 'notes' };
    await client.ask('subscribe', selection);
    await tell('n1');
    expect((await client.next())[1]).to.include({ seq: 1 });
    expect(await client.ask('subscribe', { ...selection, expires: 60 })).to.include({ seq: 1, expires: 60 });
    await tell('n2');
    expect((await client.next())[1]).to.include({ seq: 2 });
    // Another wish is another subscription, also for whoever thinks to resume.
    const other = { ...selection, exargs: { filter: { id: 'n4' } } };
    expect(await client.ask('subscribe', { ...other, after: 2 })).to.include({ seq: 0, resumed: false });
    await tell('n3');
    await tell('n4');
    expect((await client.next())[1]).to.deep.include({ seq: 1, data: await createdNote('n4') });
    expect(await client.ask('subscribe', { id: 'same', after: 1 })).to.include({ seq: 1, resumed: true });
    // Elsewhere, and without a number to go on from, it begins anew.
    expect(await (await open()).ask('subscribe', other)).to.include({ seq: 0, resumed: true });
  });

  const createdNote = async (id: string): Promise<object> => ({
    classname: 'notes',
    operation: 'create',
    id,
    entity: (await node.as(ADMIN, 'GET', `/model/notes/${id}`)).body,
  });

  it('is notified when another connection takes over its subscription, and when it expires', async () => {
    const [first, second] = [await open(), await open()];
    await first.ask('subscribe', { id: 'desk' });
    await second.ask('subscribe', { id: 'desk', expires: 1 });
    expect(await first.next()).to.deep.equal([
      'unsubscribed',
      { id: 'desk', reason: 'another connection took it over' },
    ]);
    expect(await second.next()).to.deep.equal(['unsubscribed', { id: 'desk', reason: 'expired' }]);
    const headers = { authorization: `Bearer ${await node.token(ADMIN)}` };
    const url = `http://127.0.0.1:${node.port}/rest/v1/api/events?id=desk`;
    const stream = await fetch(url, { headers });
    await first.ask('subscribe', { id: 'desk' });
    expect(await stream.text()).to.include('event: dropped\ndata: {"reason":"another connection took it over"}');
  });
});
