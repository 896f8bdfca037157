import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { callEvents } from '../../runtime/events/call-events.ts';
import { DataNode, type Who } from './support/data-node.ts';
import { NO_DATA } from './support/doubles.ts';
import { FrameClient } from './support/frame-client.ts';
import { RestNode } from './support/rest-node.ts';

const ADMIN: Who = 'admin@demo.local';

describe('REST: events over WebSocket and Server-Sent Events', () => {
  let node: DataNode;
  const clients: WebSocket[] = [];
  const lost: string[] = [];
  before(async () => {
    const observer = {
      subscriberDropped: (how: string) => void lost.push(how),
      eventsLost: () => void lost.push('gap'),
    };
    node = await DataNode.start({ metrics: { ...NO_DATA.metrics, ...observer } });
    // Alice and bob may read the calls of their domain.
    const [role] = (await node.as(ADMIN, 'LOOKUP', '/iam/roles', { code: 'user' })).body as string[];
    const grants = [{ path: '/uc/calls', methods: ['GET'] }];
    expect((await node.as(ADMIN, 'PATCH', `/iam/roles/${role ?? ''}`, { grants })).status).to.equal(200);
  });
  afterEach(() => {
    for (const socket of clients.splice(0)) socket.terminate();
  });
  after(() => node.close());

  const open = async (who: Who): Promise<FrameClient> => {
    const headers = { authorization: `Bearer ${await node.token(who)}` };
    const socket = new WebSocket(`ws://127.0.0.1:${node.port}/ws`, { headers });
    clients.push(socket);
    const client = new FrameClient(socket);
    await once(socket, 'open');
    return client;
  };
  const calls = () => callEvents(node.events);
  const data = (dialogid: string) => ({ inviteid: 'i', connectionid: 'c', dialogid });

  it('refuses the upgrade without a session, to another path, and from another site', async () => {
    const token = await node.token('alice@demo.local');
    for (const [path, headers, status] of [
      ['/ws', {}, 401],
      ['/ws', { authorization: 'Bearer nonsense' }, 401],
      ['/other', { authorization: `Bearer ${token}` }, 404],
      ['/ws', { authorization: `Bearer ${token}`, origin: 'https://evil.test' }, 403],
    ] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${node.port}${path}`, { headers });
      socket.on('error', () => {});
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
      expect(response.statusCode).to.equal(status);
      socket.terminate();
    }
  });

  it('refuses an invalid handshake with the error object', async () => {
    const socket = connect(node.port, '127.0.0.1');
    const token = await node.token('alice@demo.local');
    const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    socket.write(`GET /ws HTTP/1.1\r\n${head}Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: x\r\n\r\n`);
    const answer = await text(socket);
    expect(answer)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.match(/sec-websocket-version: 13/i);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ error_code: 1400 });
  });

  it('sends subscribed events, numbered without gaps, of the own domain only', async () => {
    const alice = await open('alice@demo.local');
    const answer = await alice.ask('subscribe', { qid: 7, id: 's1', events: ['callevents.call_end', 'ccsevents'] });
    expect(answer).to.include({ qid: 7, result: 'ok', id: 's1', seq: 0, resumed: true });
    calls().emit([asDomainName('demo.local')], 'call_init', data('1'));
    calls().emit([asDomainName('other.local')], 'call_end', data('2'));
    calls().emit([asDomainName('demo.local'), asDomainName('demo.local')], 'call_end', data('3'));
    calls().transcribed([asDomainName('demo.local')], data('4'));
    const [first, second] = [await alice.next(), await alice.next()];
    expect(first[0]).to.equal('event');
    expect(first[1]).to.deep.include({ id: 's1', seq: 1, class: 'callevents', type: 'call_end', data: data('3') });
    expect(second[1]).to.deep.include({ seq: 2, class: 'ccsevents', type: 'connection_set_asr' });
  });

  it('obeys objects, mask and filter, ends with expires 0, and needs a role', async () => {
    const alice = await open('alice@demo.local');
    await alice.ask('subscribe', { id: 'a', objects: ['x'], exargs: { mask: 'dialogid' } });
    await alice.ask('subscribe', { id: 'b', exargs: { filter: { dialogid: 'y' } } });
    node.events.publish({
      domain: asDomainName('demo.local'),
      class: 'secretevents',
      type: 'told',
      data: { id: 'x', dialogid: 'y' },
    });
    for (const id of ['w', 'x', 'y']) calls().emit([asDomainName('demo.local')], 'call_init', data(id));
    expect((await alice.next())[1]).to.deep.include({ id: 'a', seq: 1, data: { dialogid: 'x' } });
    expect((await alice.next())[1]).to.deep.include({ id: 'b', seq: 1, data: data('y') });
    await alice.ask('subscribe', { id: 'a', expires: 0 });
    calls().emit([asDomainName('demo.local')], 'call_init', data('x'));
    expect(await alice.ask('ping', { qid: 'after' })).to.include({ qid: 'after', result: 'ok' });
  });

  it('resumes after a lost connection, and reports lost events', async () => {
    const before = await open('bob@demo.local');
    await before.ask('subscribe', { id: 'r' });
    calls().emit([asDomainName('demo.local')], 'call_init', data('1'));
    await before.next();
    before.socket.terminate();
    await once(before.socket, 'close');
    calls().emit([asDomainName('demo.local')], 'call_ringing', data('1'));
    calls().emit([asDomainName('demo.local')], 'call_answered', data('1'));
    const again = await open('bob@demo.local');
    again.socket.send(JSON.stringify(['subscribe', { id: 'r', after: 1 }]));
    const frames = [await again.next(), await again.next(), await again.next()];
    expect(frames.map(([method, { seq, type }]) => [method, seq, type])).to.have.deep.members([
      ['event', 2, 'call_ringing'],
      ['event', 3, 'call_answered'],
      ['subscribe_result', 3, undefined],
    ]);
    expect(await again.ask('subscribe', { id: 'unknown', after: 5 })).to.include({ resumed: false, seq: 0 });
    expect(lost.filter((what) => what === 'gap')).to.have.length(1);
  });

  it('answers invalid frames with an error object', async () => {
    const alice = await open('alice@demo.local');
    for (const frame of ['', 'x', '7', '[]', '["subscribe"]', '["subscribe",[]]', '[{},{}]', '["nonsense",{}]']) {
      alice.socket.send(frame);
      expect((await alice.next())[1], frame).to.include({ result: 'error', error_code: 1400 });
    }
    for (const bad of [{ id: 'a b' }, { events: 'x' }, { expires: 4000 }, { exargs: { filter: ['nonsense'] } }]) {
      expect(await alice.ask('subscribe', bad)).to.include({ result: 'error', error_code: 1400 });
    }
  });

  it('runs REST requests with the roles of the session', async () => {
    const admin = await open('admin@demo.local');
    const list = await admin.ask('rest', {
      qid: 1,
      method: 'GET',
      path: '/domain/sipusers',
      query: { mask: 'login', limit: 1, order: ['login'] },
    });
    expect(list).to.deep.equal({ qid: 1, result: 'ok', status: 200, body: [{ login: 'alice' }] });
    const lookup = await admin.ask('rest', { method: 'LOOKUP', path: '/rest/v1/iam/users', body: { login: 'nobody' } });
    expect(lookup).to.deep.include({ result: 'error', status: 404 });
    const alice = await open('alice@demo.local');
    expect(await alice.ask('rest', { method: 'GET', path: '/iam/users' })).to.include({ result: 'error', status: 403 });
    expect(await alice.ask('rest', { method: 'GET', path: '//evil.test/x' })).to.include({ result: 'error' });
    for (const path of ['/rest/v1/../../healthz', '/../../healthz', '/%2e%2e/%2e%2e/healthz']) {
      expect(await alice.ask('rest', { method: 'GET', path })).to.include({ status: 404 });
    }
    for (const path of ['/api/events', '/api/event%73?events=callevents']) {
      expect(await alice.ask('rest', { method: 'GET', path })).to.include({ status: 400 });
    }
  });

  it('drops a subscriber that does not read, with a reason, and serves the others', async () => {
    const token = await node.token('alice@demo.local');
    const slow = connect(node.port, '127.0.0.1');
    slow.write(`GET /rest/v1/api/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await once(slow, 'readable');
    slow.pause();
    const quick = await open('bob@demo.local');
    await quick.ask('subscribe', { id: 'q' });
    const long = 'x'.repeat(60_000);
    for (let sent = 0; sent < 500; sent++) {
      calls().emit([asDomainName('demo.local')], 'call_init', { ...data(String(sent)), text: long });
      expect((await quick.next())[1]).to.include({ seq: sent + 1 });
    }
    let received = 0;
    let tail = '';
    slow.on('error', () => {});
    slow.on('data', (chunk: Buffer) => {
      received += chunk.length;
      tail = (tail + chunk.toString('latin1')).slice(-200);
    });
    // It has not read for a while, and gets the reason all the same.
    await delay(1_500);
    slow.removeAllListeners('readable');
    slow.resume();
    await once(slow, 'close');
    expect(received).to.be.lessThan(500 * 60_000);
    expect(tail).to.include('event: dropped').and.include('too slow');
    expect(lost).to.include('sse');
  });

  it('ends with the session, at once and with a reason', async () => {
    const url = `http://127.0.0.1:${node.port}/rest/v1/api/events`;
    const end = async (stop: (authorization: string) => Promise<unknown>): Promise<void> => {
      const authorization = `Bearer ${await node.login('carol@demo.local')}`;
      const socket = new WebSocket(`ws://127.0.0.1:${node.port}/ws`, { headers: { authorization } });
      clients.push(socket);
      await once(socket, 'open');
      const stream = await fetch(url, { headers: { authorization } });
      const closed = once(socket, 'close');
      await stop(authorization);
      const [code, reason] = (await closed) as [number, Buffer];
      expect([code, reason.toString()]).to.deep.equal([4401, 'the session ended or changed its domain']);
      expect(await stream.text()).to.include(
        'event: dropped\ndata: {"reason":"the session ended or changed its domain"}',
      );
    };
    const current = '/rest/v1/iam/sessions/current';
    await end((authorization) => node.call('DELETE', current, { headers: { authorization } }));
    const [carol] = (await node.as('admin@demo.local', 'LOOKUP', '/iam/users', { login: 'carol' })).body as [string];
    await end(() => node.as('admin@demo.local', 'DELETE', `/iam/users/${carol}/sessions`));
  });

  it('sends the events that the present roles allow', async () => {
    const admin: Who = 'admin@demo.local';
    const grants = [{ path: '/uc/calls', methods: ['GET'] }];
    const { body: role } = await node.as(admin, 'POST', '/iam/roles', { code: 'watcher', grants });
    const user = { login: 'walt', pwd: 'demo-walt', roles: ['watcher'] };
    const { body: walt } = await node.as(admin, 'POST', '/iam/users', user);
    const client = await open('walt@demo.local');
    await client.ask('subscribe', { id: 'r', events: ['callevents'] });

    const change = async (path: string, entity: unknown, fields: object): Promise<void> => {
      const { id } = entity as { id: string };
      expect((await node.as(admin, 'PATCH', `${path}/${id}`, fields)).status).to.equal(200);
    };
    calls().emit([asDomainName('demo.local')], 'call_init', data('1'));
    await change('/iam/users', walt, { roles: [] });
    calls().emit([asDomainName('demo.local')], 'call_init', data('2'));
    calls().emit([asDomainName('demo.local')], 'call_init', data('3'));
    await change('/iam/users', walt, { roles: ['watcher'] });
    calls().emit([asDomainName('demo.local')], 'call_init', data('4'));
    await change('/iam/roles', role, { grants: [] });
    calls().emit([asDomainName('demo.local')], 'call_init', data('5'));
    await change('/iam/roles', role, { grants });
    calls().emit([asDomainName('demo.local')], 'call_init', data('6'));
    const seen = [await client.next(), await client.next(), await client.next()];
    expect(seen.map(([, { seq, data: told }]) => [seq, (told as { dialogid: string }).dialogid])).to.deep.equal([
      [1, '1'],
      [2, '4'],
      [3, '6'],
    ]);
  });

  it('streams the same as Server-Sent Events and resumes by Last-Event-ID', async () => {
    const authorization = `Bearer ${await node.token('alice@demo.local')}`;
    const url = `http://127.0.0.1:${node.port}/rest/v1/api/events?events=callevents&id=sse`;
    const stream = async (headers: Record<string, string>, until: string, act: () => void): Promise<string> => {
      const abort = new AbortController();
      const response = await fetch(url, { headers: { authorization, ...headers }, signal: abort.signal });
      expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
      let got = '';
      let acted = false;
      for await (const chunk of response.body ?? []) {
        got += Buffer.from(chunk as Uint8Array).toString();
        if (!acted && got.includes('event: subscribed')) act();
        acted = true;
        if (got.includes(until)) break;
      }
      abort.abort();
      return got;
    };
    const first = await stream({}, 'sse:1', () => calls().emit([asDomainName('demo.local')], 'call_init', data('1')));
    expect(first).to.include('id: sse:1\nevent: callevents\ndata: {');
    calls().emit([asDomainName('demo.local')], 'call_end', data('1'));
    const second = await stream({ 'last-event-id': 'sse:1' }, 'sse:2', () => {});
    expect(second).to.include('"resumed":true').and.include('"type":"call_end"').and.not.include('id: sse:1');
    const foreign = await stream({ 'last-event-id': 'of-something-else' }, 'resumed', () => {});
    expect(foreign).to.include('"resumed":false');
    expect((await node.call('GET', '/rest/v1/api/events')).status).to.equal(401);
  });

  it('ends its streams when the server closes, without waiting for clients', async () => {
    const own = await RestNode.start();
    const authorization = `Bearer ${await own.token()}`;
    const response = await fetch(`http://127.0.0.1:${own.port}/rest/v1/api/events`, { headers: { authorization } });
    const [told] = await Promise.all([response.text(), own.app.close()]);
    expect(told).to.include('event: subscribed');
  });
});
