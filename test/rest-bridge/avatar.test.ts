import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { StoredAvatars } from '../../runtime/iam/index.ts';
import { FolderFiles } from '../../runtime/storage/files/index.ts';
import { DataNode, type Who } from './support/data-node.ts';
import type { Reply } from './support/rest-node.ts';

const AVATAR = '/user/avatar';
const LIMIT = 204_800;
const BORDER = 'the-border';

interface Part {
  readonly content: Uint8Array | string;
  readonly filename?: string;
}

function form(...parts: readonly Part[]): Buffer {
  const heads = parts.map(({ filename }) =>
    filename === undefined
      ? 'Content-Disposition: form-data; name="note"'
      : `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: image/png`,
  );
  const bodies = parts.flatMap(({ content }, index) => [
    Buffer.from(`--${BORDER}\r\n${heads[index]}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...bodies, Buffer.from(`--${BORDER}--\r\n`)]);
}

describe('REST: user info and avatar', () => {
  let node: DataNode;
  before(async () => {
    node = await DataNode.start({ bodyLimits: { graceMs: 1_000 } });
  });
  after(() => node.close());

  const put = (who: Who, body: Uint8Array, type = `multipart/form-data; boundary=${BORDER}`): Promise<Reply> =>
    node.as(who, 'PUT', AVATAR, body, { 'content-type': type });
  const infoOf = async (who: Who) =>
    ((await node.as(who, 'GET', '/user/info')).body as { avatar_info: Record<string, unknown> | false }).avatar_info;
  /** Files in the store, those on their way in included. */
  const files = (): string[] => {
    const folder = join(node.folder, 'files');
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  };
  const notFound = { error_code: 1404, error_message: 'Avatar not found', error_details: { entity: 'Avatar' } };

  it('answers the data of the user', async () => {
    const { status, body } = await node.as('alice@demo.local', 'GET', '/user/info');
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      login: 'alice',
      name: 'Alice',
      domain: 'demo.local',
      roles: ['user'],
      avatar_info: false,
    });
    expect(body).to.have.all.keys('id', 'login', 'name', 'domain', 'roles', 'avatar_info');
  });

  it('does not exist at first', async () => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await node.as('alice@demo.local', method, AVATAR);
      expect([reply.status, reply.body]).to.deep.equal([404, notFound]);
    }
  });

  it('is stored, answered by its extension and as an attachment, replaced, and deleted', async () => {
    const content = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 1]);
    const stored = await put('alice@demo.local', form({ content: 'hello' }, { content, filename: 'me.PNG' }));
    expect([stored.status, stored.text]).to.deep.equal([204, '']);
    const hex = createHash('sha256').update(content).digest('hex').toUpperCase();
    const info = await infoOf('alice@demo.local');
    expect(info).to.include({ name: 'me.PNG', size: 7, hasha: `sha256;${hex}`, content_type: 'image/png' });
    const shown = await node.as('alice@demo.local', 'GET', AVATAR);
    expect(shown.headers.get('content-type')).to.equal('image/png');
    expect(shown.headers.get('content-length')).to.equal('7');
    expect(shown.headers.has('content-disposition')).to.equal(false);
    const saved = await node.as('alice@demo.local', 'GET', `${AVATAR}?attachment=true`);
    expect(saved.headers.get('content-type')).to.equal('application/octet-stream');
    expect(saved.headers.get('content-disposition')).to.match(/^attachment; filename="me.PNG"/);

    await put('alice@demo.local', form({ content: 'other', filename: 'x.svg' }));
    const svg = await node.as('alice@demo.local', 'GET', AVATAR);
    expect(svg.text).to.equal('other');
    expect(svg.headers.get('content-security-policy')).to.include('sandbox');
    await node.model.sweepFiles(-1);
    expect(files()).to.have.length(1);

    expect((await node.as('alice@demo.local', 'DELETE', AVATAR)).status).to.equal(204);
    expect(await infoOf('alice@demo.local')).to.equal(false);
    expect((await node.as('alice@demo.local', 'GET', AVATAR)).status).to.equal(404);
    await node.model.sweepFiles(-1);
    expect(files()).to.deep.equal([]);
  });

  it('stays while another user has the same content', async () => {
    const body = form({ content: 'shared', filename: 'a.png' });
    await Promise.all([put('alice@demo.local', body), put('bob@demo.local', body)]);
    expect(files()).to.have.length(1);
    await node.as('alice@demo.local', 'DELETE', AVATAR);
    await node.model.sweepFiles(-1);
    expect((await node.as('bob@demo.local', 'GET', AVATAR)).text).to.equal('shared');
    await node.as('bob@demo.local', 'DELETE', AVATAR);
    await node.model.sweepFiles(-1);
    expect(files()).to.deep.equal([]);
  });

  it('shares its content with an attachment, which keeps it', async () => {
    const properties = [{ name: 'photo', data_type: 'attachment' }];
    const settings = { classname: 'shared', storage_mode: 'category', properties };
    await node.as('admin@demo.local', 'POST', '/domain/classes', settings);
    await node.as('admin@demo.local', 'POST', '/model/shared', { id: 'x' });
    const octets = { 'content-type': 'application/octet-stream' };
    await node.as('admin@demo.local', 'PUT', '/model/shared/x/photo', Buffer.from('both'), octets);
    await put('bob@demo.local', form({ content: 'both', filename: 'a.png' }));
    await node.as('admin@demo.local', 'DELETE', '/model/shared/x/photo');
    await node.model.sweepFiles(-1);
    expect((await node.as('bob@demo.local', 'GET', AVATAR)).text).to.equal('both');
    await node.as('bob@demo.local', 'DELETE', AVATAR);
    await node.model.sweepFiles(-1);
    expect(files()).to.deep.equal([]);
  });

  it('of a former release is read from its folder, and moved to the file store', async () => {
    await put('bob@demo.local', form({ content: 'old', filename: 'a.png' }));
    renameSync(join(node.folder, 'files'), join(node.folder, 'avatars'));
    expect((await node.as('bob@demo.local', 'GET', AVATAR)).text).to.equal('old');
    const former = new FolderFiles(join(node.folder, 'avatars'));
    const store = new FolderFiles(join(node.folder, 'files'));
    const avatars = new StoredAvatars(node.iam.accounts, { files: store, former, suspect: async () => {} });
    expect(await avatars.moveFormer()).to.equal(1);
    rmSync(join(node.folder, 'avatars'), { recursive: true });
    expect((await node.as('bob@demo.local', 'GET', AVATAR)).text).to.equal('old');
    await node.as('bob@demo.local', 'DELETE', AVATAR);
    await node.model.sweepFiles(-1);
  });

  it('is limited to 204800 bytes', async () => {
    expect((await put('bob@demo.local', form({ content: Buffer.alloc(LIMIT), filename: 'a.png' }))).status).to.equal(
      204,
    );
    for (const size of [LIMIT + 1, LIMIT + 20_000, 900_000]) {
      const reply = await put('bob@demo.local', form({ content: Buffer.alloc(size), filename: 'a.png' }));
      expect([reply.status, reply.body], String(size)).to.deep.equal([
        413,
        {
          error_code: 1506,
          error_message: 'The request body exceeds the maximum size of 204800',
          error_details: { limit: LIMIT },
        },
      ]);
    }
    expect(files()).to.have.length(1);
    await node.as('bob@demo.local', 'DELETE', AVATAR);
    await node.model.sweepFiles(-1);
  });

  it('is refused during the upload, without waiting for its end', async () => {
    const token = await node.token('bob@demo.local');
    const socket = connect(node.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `PUT /rest/v1${AVATAR} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n` +
        `Content-Type: multipart/form-data; boundary=${BORDER}\r\n\r\n`,
    );
    const chunk = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    socket.write(chunk(form({ content: Buffer.alloc(LIMIT + 1_000), filename: 'a.png' }).subarray(0, -30)));
    let answer = '';
    for await (const data of socket) {
      answer += String(data);
      if (answer.includes('1506')) break;
    }
    expect(answer)
      .to.match(/^HTTP\/1\.1 413 /)
      .and.include('"error_code":1506');
    expect(files()).to.deep.equal([]);
  });

  it('answers 408 to a too slow upload, and leaves no file behind', async function () {
    this.timeout(10_000);
    const token = await node.token('bob@demo.local');
    const socket = connect(node.port, '127.0.0.1');
    socket.write(
      `PUT /rest/v1${AVATAR} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 5000\r\n` +
        `Content-Type: multipart/form-data; boundary=${BORDER}\r\n\r\n--${BORDER}\r\n`,
    );
    let answer = '';
    for await (const data of socket) answer += String(data);
    expect(answer)
      .to.match(/^HTTP\/1\.1 408 /)
      .and.include('"error_code":1408');
    expect(files()).to.deep.equal([]);
  });

  const odd: [string, Buffer, string | undefined, number][] = [
    ['no file part', form({ content: 'x' }), undefined, 400],
    ['two files', form({ content: 'x', filename: 'a.png' }, { content: 'y', filename: 'b.png' }), undefined, 400],
    ['nothing at all', form(), undefined, 400],
    ['a form without end', form({ content: 'x', filename: 'a.png' }).subarray(0, -20), undefined, 400],
    ['a form without border', form({ content: 'x', filename: 'a.png' }), 'multipart/form-data', 400],
    ['JSON', Buffer.from('{}'), 'application/json', 415],
    ['octets', Buffer.from('x'), 'application/octet-stream', 415],
  ];
  for (const [what, body, type, status] of odd) {
    it(`answers ${status} to ${what}`, async () => {
      const reply = await put('bob@demo.local', body, type);
      expect(reply.status, reply.text).to.equal(status);
      expect(reply.body).to.have.property('error_code', status === 400 ? 1400 : 1415);
      expect(await infoOf('bob@demo.local')).to.equal(false);
    });
  }

  it('has a name that cannot leave its folder or split a header', async () => {
    for (const [filename, name] of [
      ['../../../etc/passwd', 'passwd'],
      ['..\\\\x.png', 'x.png'],
      ['%0d%0aX: y.png', undefined],
      ['ünï"cödé.png', undefined],
    ] as const) {
      expect((await put('bob@demo.local', form({ content: 'x', filename }))).status, filename).to.equal(204);
      const reply = await node.as('bob@demo.local', 'GET', `${AVATAR}?attachment=1`);
      expect(reply.status).to.equal(200);
      expect(reply.headers.has('x')).to.equal(false);
      if (name !== undefined) expect(await infoOf('bob@demo.local')).to.include({ name });
    }
    await node.as('bob@demo.local', 'DELETE', AVATAR);
  });

  it('reads no other file after an administrator wrote invalid meta-information', async () => {
    const { users } = node.iam.collections;
    const bob = (await users.list()).find(({ login }) => login === 'bob');
    for (const hasha of ['sha256;../../../../etc/passwd', 'sha256;..', '', 7]) {
      const avatar_info = { name: 'a', size: 1, mtime: '', hasha, content_type: 'image/png' };
      await users.update(bob?.id ?? '', { opts: { avatar_info } });
      expect((await node.as('bob@demo.local', 'GET', AVATAR)).status).to.equal(404);
    }
  });
});
