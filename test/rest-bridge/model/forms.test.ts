import { expect } from 'chai';
import { FileStoreError, FolderFiles, type ReceivedBlob } from '../../../runtime/storage/files/index.ts';
import { DataNode } from '../support/data-node.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Goes down after some files. */
class FailingFiles extends FolderFiles {
  keepsLeft = Number.POSITIVE_INFINITY;

  override async keep(received: ReceivedBlob): Promise<void> {
    if (this.keepsLeft-- <= 0) throw new FileStoreError('the store is down', {});
    await super.keep(received);
  }
}

describe('REST: forms with an entity and its files', function () {
  this.timeout(60_000);
  const folder = temporaryFolder();
  const files = new FailingFiles(folder);
  let node: DataNode;
  before(async () => {
    node = await DataNode.start({ files });
    const properties = [
      { name: 'title', data_type: 'string' },
      { name: 'report', data_type: 'attachment' },
      { name: 'photos', data_type: 'attachment', multi: true },
    ];
    for (const mode of ['category', 'ets', 'history']) {
      const settings = { classname: `${mode}/forms`, storage_mode: mode, properties, opts: { put_preread: false } };
      expect((await node.as('admin@demo.local', 'POST', '/domain/classes', settings)).status).to.equal(200);
    }
  });
  beforeEach(() => {
    files.keepsLeft = Number.POSITIVE_INFINITY;
  });
  after(() => node.close());

  async function send(method: string, path: string, data: object | undefined, ...parts: [string, string][]) {
    const body = new FormData();
    if (data !== undefined) body.append('data', JSON.stringify(data));
    for (const [part, name] of parts) body.append(part, new Blob([name]), name);
    const headers = { authorization: `Bearer ${await node.token('admin@demo.local')}` };
    const reply = await fetch(`http://127.0.0.1:${node.port}/rest/v1${path}`, { method, headers, body });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  }
  const get = (path: string) => node.as('admin@demo.local', 'GET', path);

  for (const mode of ['category', 'ets']) {
    it(`are written as a whole or not at all; storage_mode ${mode}`, async () => {
      const told: unknown[] = [];
      const stop = node.events.subscribe({ class: 'modelevents' }, ({ data }) => told.push(data));
      const path = `/model/${mode}/forms`;
      files.keepsLeft = 1;
      const failed = await send('POST', path, { id: 'a' }, ['report', 'r.txt'], ['photos', '1.png']);
      expect([failed.status, failed.body['error_code']]).to.deep.equal([503, 1503]);
      expect((await get(`${path}/a`)).status).to.equal(404);

      files.keepsLeft = 10;
      const made = await send('POST', path, { id: 'a', title: 'A' }, ['report', 'r.txt'], ['photos', '1.png']);
      expect(made.body).to.have.nested.property('report.filename', 'r.txt');
      expect(made.body).to.deep.equal((await get(`${path}/a`)).body);
      // Nobody sees it without them.
      expect(told).to.deep.equal([{ classname: `${mode}/forms`, operation: 'create', id: 'a', entity: made.body }]);
      stop();

      files.keepsLeft = 1;
      expect(
        (await send('PUT', `${path}/a`, { title: 'B' }, ['report', 'q.txt'], ['photos', '2.png'])).status,
      ).to.equal(503);
      expect((await get(`${path}/a`)).body).to.deep.equal(made.body);
      files.keepsLeft = 10;
      const put = await send('PUT', `${path}/a`, { title: 'B' }, ['report', 'q.txt'], ['photos', '2.png']);
      expect(put.body).to.have.nested.property('report.filename', 'q.txt');
      expect((put.body['photos'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['1.png', '2.png']);
      expect(put.body).to.deep.equal((await get(`${path}/a`)).body);

      files.keepsLeft = 1;
      expect((await send('POST', `${path}/a/photos`, undefined, ['x', '3.png'], ['x', '4.png'])).status).to.equal(503);
      expect((await get(`${path}/a`)).body).to.deep.equal(put.body);
    });
  }

  it('belong to the day of the entity; storage_mode history', async () => {
    const ts = Date.UTC(2026, 0, 2, 3);
    const { status, body } = await send('POST', '/model/history/forms', { id: 'a', ts }, ['report', 'r.txt']);
    expect([status, (body['report'] as { filename: string }).filename]).to.deep.equal([200, 'r.txt']);
    const reply = await fetch(`http://127.0.0.1:${node.port}/rest/v1/model/history/forms/2026-01-02/a/report`, {
      headers: { authorization: `Bearer ${await node.token('admin@demo.local')}` },
    });
    expect(await reply.text()).to.equal('r.txt');
  });
});
