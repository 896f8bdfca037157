import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';
import { FrameClient } from '../support/frame-client.ts';

const ADMIN: Who = 'admin@demo.local';

describeNodes('REST: changes of entities as events', (node) => {
  let classes = 0;
  const sockets: WebSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });

  async function makeClass(mode: string, settings: object = {}): Promise<string> {
    const classname = `told${++classes}/people`;
    const properties = [
      { name: 'name', data_type: 'string' },
      { name: 'age', data_type: 'integer' },
    ];
    await send('POST', '/domain/classes', { classname, storage_mode: mode, properties, ...settings });
    return classname;
  }
  const send = (method: string, path: string, body?: unknown) => node().as(ADMIN, method, path, body);

  async function subscribe(selection: object, who: Who = ADMIN): Promise<() => Promise<unknown>> {
    const headers = { authorization: `Bearer ${await node().token(who)}` };
    const socket = new WebSocket(`ws://127.0.0.1:${node().port}/ws`, { headers });
    sockets.push(socket);
    const client = new FrameClient(socket);
    await once(socket, 'open');
    expect((await client.ask('subscribe', { events: ['modelevents'], ...selection }))['result']).to.equal('ok');
    return async () => {
      const [method, { class: eventClass, type, data }] = await client.next();
      expect([method, eventClass, type]).to.deep.equal(['event', 'modelevents', 'data_changed']);
      return data;
    };
  }

  for (const mode of ['category', 'ram']) {
    it(`report changes of entities; storage_mode ${mode}`, async () => {
      const classname = await makeClass(mode);
      const next = await subscribe({ classpath: classname.split('/')[0] });
      await send('POST', `/model/${classname}`, { id: 'a', name: 'Ann', age: 1 });
      expect(await next()).to.deep.equal({
        classname,
        operation: 'create',
        id: 'a',
        entity: { id: 'a', name: 'Ann', age: 1 },
      });
      await send('PATCH', `/model/${classname}/a`, { age: 2 });
      expect(await next()).to.deep.include({ operation: 'update', entity: { id: 'a', name: 'Ann', age: 2 } });
      await send('PUT', `/model/${classname}/a`, { name: 'Bob' });
      expect(await next()).to.deep.include({ operation: 'update', entity: { id: 'a', name: 'Bob', age: null } });
      await send('DELETE', `/model/${classname}/a`);
      expect(await next()).to.deep.equal({
        classname,
        operation: 'delete',
        id: 'a',
        entity: { id: 'a', name: 'Bob', age: null },
      });
      await send('CLEAR', `/model/${classname}`);
      expect(await next()).to.deep.equal({ classname, operation: 'clear' });
    });

    it(`a removed class is cleared for its subscribers; storage_mode ${mode}`, async () => {
      const classname = await makeClass(mode);
      const next = await subscribe({ classpath: classname });
      const [id] = (await send('LOOKUP', '/domain/classes', { classname })).body as string[];
      await send('DELETE', `/domain/classes/${id ?? ''}`);
      expect(await next()).to.deep.equal({ classname, operation: 'clear' });
    });

    it(`a filter sees entities enter and leave, and a mask is about the entity; storage_mode ${mode}`, async () => {
      const classname = await makeClass(mode);
      const next = await subscribe({ classpath: classname, exargs: { filter: { age: '18~' }, mask: 'id,age' } });
      const place = `/model/${classname}`;
      await send('POST', place, { id: 'a', name: 'child', age: 5 });
      await send('PATCH', `${place}/a`, { age: 18 });
      expect(await next()).to.deep.equal({ classname, operation: 'create', id: 'a', entity: { id: 'a', age: 18 } });
      await send('PATCH', `${place}/a`, { age: 19 });
      expect(await next()).to.deep.include({ operation: 'update', entity: { id: 'a', age: 19 } });
      await send('PATCH', `${place}/a`, { age: 3 });
      expect(await next()).to.deep.equal({ classname, operation: 'delete', id: 'a', entity: { id: 'a', age: 19 } });
      await send('DELETE', `${place}/a`);
      await send('POST', place, { id: 'b', age: 40 });
      expect(await next()).to.deep.include({ operation: 'create', id: 'b' });
      await send('DELETE', `${place}/b`);
      expect(await next()).to.deep.include({ operation: 'delete', id: 'b' });
    });
  }

  it('stop while suspended, and reload afterwards', async () => {
    const classname = await makeClass('category');
    const next = await subscribe({ classpath: classname });
    const place = `/model/${classname}`;
    expect((await send('SETUP', place, { cmd: 'suspend_notification' })).body).to.deep.equal({ result: 'ok' });
    await send('POST', place, { id: 'a' });
    await send('SETUP', place, { cmd: 'resume_notification' });
    expect(await next()).to.deep.equal({ classname, operation: 'reload' });
    await send('SETUP', place, { cmd: 'suspend_notification' });
    await send('SETUP', place, { cmd: 'resume_notification', send_reload: false });
    await send('POST', place, { id: 'b' });
    expect(await next()).to.deep.include({ operation: 'create', id: 'b' });
  });

  it('are sent to readers of the class, in its domain', async () => {
    const hidden = await makeClass('category');
    const silent = await makeClass('category', { opts: { notify: false } });
    const [alice] = (await send('LOOKUP', '/iam/users', { login: 'alice' })).body as string[];
    const grants = [{ path: `/model/${silent}`, methods: ['GET'] }];
    await send('POST', '/iam/roles', { code: `watcher${classes}`, name: '', grants });
    await send('PATCH', `/iam/users/${alice}`, { roles: [`watcher${classes}`] });
    try {
      const next = await subscribe({}, 'alice@demo.local');
      const foreign = await subscribe({}, 'eve@other.local');
      await send('POST', `/model/${hidden}`, { id: 'a' });
      await send('POST', `/model/${silent}`, { id: 'a' });
      const [id] = (await send('LOOKUP', '/domain/classes', { classname: silent })).body as string[];
      await send('PATCH', `/domain/classes/${id}`, { opts: { notify: true } });
      await send('POST', `/model/${silent}`, { id: 'b' });
      expect(await next()).to.deep.include({ classname: silent, id: 'b' });
      const own = { classname: silent, storage_mode: 'ets' };
      await node().as('eve@other.local', 'POST', '/domain/classes', own);
      await node().as('eve@other.local', 'POST', `/model/${silent}`, { id: 'own' });
      expect(await foreign()).to.deep.include({ id: 'own' });
    } finally {
      await send('PATCH', `/iam/users/${alice}`, { roles: [] });
    }
  });
});
