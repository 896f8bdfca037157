import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { FolderFiles } from '../../../runtime/storage/files/index.ts';
import { temporaryFolders } from '../../storage/support/storages.ts';
import type { DataNode, Who } from '../support/data-node.ts';
import { describeTwoNodes } from '../support/data-nodes.ts';
import { FrameClient } from '../support/frame-client.ts';

const ADMIN: Who = 'admin@demo.local';
const AVATAR = '/user/avatar';

function form(content: string): readonly [Buffer, { 'content-type': string }] {
  const part = 'Content-Disposition: form-data; name="file"; filename="me.png"\r\nContent-Type: image/png';
  const body = Buffer.from(`--x\r\n${part}\r\n\r\n${content}\r\n--x--\r\n`);
  return [body, { 'content-type': 'multipart/form-data; boundary=x' }];
}

const folders = temporaryFolders();
after(() => folders.removeAll());

/** Waits until a node has the class. */
async function knows(node: DataNode, classname: string): Promise<void> {
  const isKnown = async (): Promise<boolean> => (await node.as(ADMIN, 'GET', `/model/${classname}`)).status === 200;
  for (let wait = 1; !(await isKnown()); wait += 1) await new Promise((resolve) => setTimeout(resolve, wait));
}

describeTwoNodes(
  'REST: nodes with one file store',
  (nodes) => {
    it('show an avatar stored by either, and remove it when unused', async () => {
      const [first, second] = nodes();
      const who = 'alice@demo.local';
      const [body, headers] = form('a picture');
      expect((await first.as(who, 'PUT', AVATAR, body, headers)).status).to.equal(204);
      const shown = await second.as(who, 'GET', AVATAR);
      expect([shown.status, shown.text]).to.deep.equal([200, 'a picture']);
      expect(await first.model.sweepFiles(-1)).to.equal(0);
      expect((await second.as(who, 'DELETE', AVATAR)).status).to.equal(204);
      expect((await first.as(who, 'GET', AVATAR)).status).to.equal(404);
      expect(await first.model.sweepFiles(-1)).to.equal(1);
    });

    it('send every write of one entity in memory to the subscribers of both, in one order', async function () {
      this.timeout(120_000);
      const properties = [{ name: 'n', data_type: 'integer' }];
      const settings = { classname: 'counted', storage_mode: 'ram', properties };
      expect((await nodes()[0].as(ADMIN, 'POST', '/domain/classes', settings)).status).to.equal(200);
      for (const node of nodes()) await knows(node, 'counted');
      await nodes()[0].as(ADMIN, 'POST', '/model/counted', { id: 'x', n: 0 });
      const count = 400;
      const listening = await Promise.all(nodes().map((node) => listen(node, 'counted', count)));
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let n = writer; n < count; n += 8) {
          const node = nodes()[writer % 2] as DataNode;
          expect((await node.as(ADMIN, 'PATCH', '/model/counted/x', { n: n + 1 })).status).to.equal(200);
        }
      });
      await Promise.all(writers);
      const [first = [], second = []] = await Promise.all(listening.map(({ told }) => told));
      expect(first.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: count }, (_, n) => n + 1));
      expect(second).to.deep.equal(first);
    });
  },
  { files: new FolderFiles(folders.make()) },
);

/** Subscribes to a class; `told` resolves to the numbers of its first changes after 0. */
async function listen(node: DataNode, classpath: string, count: number): Promise<{ told: Promise<number[]> }> {
  const headers = { authorization: `Bearer ${await node.token(ADMIN)}` };
  const socket = new WebSocket(`ws://127.0.0.1:${node.port}/ws`, { headers });
  const client = new FrameClient(socket);
  await once(socket, 'open');
  await client.ask('subscribe', { events: ['modelevents'], classpath });
  const read = async (): Promise<number[]> => {
    const numbers: number[] = [];
    while (numbers.length < count) {
      const [, { data }] = await client.next();
      const { entity } = data as { entity: { n: number } };
      if (entity.n > 0) numbers.push(entity.n);
    }
    socket.terminate();
    return numbers;
  };
  return { told: read() };
}

describeTwoNodes('REST: nodes with a file store each', (nodes) => {
  it('answer 503 with the reason for a file that only the other node has', async () => {
    const [first, second] = nodes();
    const properties = [{ name: 'file', data_type: 'attachment' }];
    const settings = { classname: 'kept', storage_mode: 'category', properties };
    expect((await first.as(ADMIN, 'POST', '/domain/classes', settings)).status).to.equal(200);
    for (const node of nodes()) await knows(node, 'kept');
    expect((await first.as(ADMIN, 'POST', '/model/kept', { id: 'x' })).status).to.equal(200);
    expect((await first.as(ADMIN, 'PUT', '/model/kept/x/file', ...form('text'))).status).to.equal(200);
    expect((await first.as(ADMIN, 'PUT', AVATAR, ...form('a picture'))).status).to.equal(204);
    for (const path of ['/model/kept/x/file', AVATAR]) {
      expect((await first.as(ADMIN, 'GET', path)).status).to.equal(200);
      const { status, body, headers } = await second.as(ADMIN, 'GET', path);
      expect(status, path).to.equal(503);
      expect(body).to.have.property('error_code', 1503);
      expect(body).to.have.property('error_message').that.includes('the file store of this node lacks the file');
      expect(headers.has('retry-after')).to.equal(true);
    }
  });
});
