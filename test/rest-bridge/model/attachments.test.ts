import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DataNode, Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';
const OCTETS = { 'content-type': 'application/octet-stream' };
const CONTENT = 'a report, and nothing but a report';
const SHA256 = createHash('sha256').update(CONTENT).digest();
const HASHA = `sha256;${SHA256.toString('hex').toUpperCase()}`;

type Body = string | Uint8Array<ArrayBuffer> | FormData;

describeNodes('REST: attachments', (node) => {
  let classes = 0;
  let path: string;

  /** Sends bytes as they are. */
  async function send(
    method: string,
    place: string,
    body?: Body,
    headers: Record<string, string> = {},
    who: Who = ADMIN,
  ): Promise<Response> {
    const authorization = `Bearer ${await node().token(who)}`;
    return fetch(`http://127.0.0.1:${node().port}/rest/v1${place}`, {
      method,
      headers: { authorization, ...headers },
      ...(body !== undefined && { body }),
    });
  }
  const json = (method: string, place: string, body: object): Promise<Response> =>
    send(method, place, JSON.stringify(body), { 'content-type': 'application/json' });
  const upload = (place: string, content: Body = CONTENT, headers: Record<string, string> = {}): Promise<Response> =>
    send('PUT', place, content, { ...OCTETS, ...headers });

  async function refused(response: Response | Promise<Response>, status: number, code: number): Promise<void> {
    const answer = await response;
    const text = await answer.text();
    expect(answer.status, text).to.equal(status);
    expect(JSON.parse(text)).to.have.property('error_code', code);
  }

  beforeEach(async () => {
    const classname = `files${++classes}`;
    const made = await json('POST', '/domain/classes', {
      classname,
      storage_mode: 'category',
      properties: [
        { name: 'title', data_type: 'string' },
        { name: 'report', data_type: 'attachment' },
        { name: 'photos', data_type: 'attachment', multi: true },
      ],
    });
    expect(made.status).to.equal(200);
    path = `/model/${classname}/a`;
    await json('PUT', path, { title: 'A' });
  });

  it('of a single property are stored, described, served and removed', async () => {
    const put = await upload(`${path}/report`, CONTENT, {
      'content-disposition': `form-attachment; filename="r.txt"; filename*=UTF-8''r%C3%A9port.txt`,
    });
    expect(put.status).to.equal(200);
    const info = (await put.json()) as Record<string, unknown>;
    expect(info).to.include({ hasha: HASHA, name: 'content', size: CONTENT.length, filename: 'réport.txt' });
    expect(info['link']).to.match(/^fs:\/\/files\//);
    expect(new Date(String(info['mtime'])).toISOString()).to.equal(info['mtime']);
    expect(await (await send('GET', path)).json()).to.deep.equal({ id: 'a', title: 'A', report: info, photos: null });
    expect(await (await send('METADATA', `${path}/report`)).json()).to.deep.equal(info);
    expect(await (await send('POST', `${path}/report!metadata`)).json()).to.deep.equal(info);

    const inline = await send('GET', `${path}/report`);
    expect(await inline.text()).to.equal(CONTENT);
    expect(inline.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(inline.headers.get('content-length')).to.equal(String(CONTENT.length));
    expect(inline.headers.get('content-disposition')).to.equal(null);
    const saved = await send('GET', `${path}/report?attachment=1`);
    expect(saved.headers.get('content-type')).to.equal('application/octet-stream');
    expect(saved.headers.get('content-disposition')).to.contain(`filename*=UTF-8''r%C3%A9port.txt`);
    const head = await send('HEAD', `${path}/report`);
    expect([head.status, head.headers.get('content-length'), await head.text()]).to.deep.equal([
      200,
      String(CONTENT.length),
      '',
    ]);

    expect((await send('DELETE', `${path}/report`)).status).to.equal(204);
    await refused(send('GET', `${path}/report`), 404, 1404);
    await refused(send('DELETE', `${path}/report`), 404, 1404);
    expect(await (await send('GET', path)).json()).to.include({ report: null });
  });

  it('of a list are a directory', async () => {
    expect(await (await send('GET', `${path}/photos`)).json()).to.deep.equal([]);
    const form = new FormData();
    form.append('file', new Blob(['one']), '../../etc/one.png');
    form.append('file', new Blob(['two']), 'two.png');
    const posted = await send('POST', `${path}/photos`, form);
    expect(posted.status).to.equal(200);
    expect(((await posted.json()) as { name: string }[]).map(({ name }) => name)).to.deep.equal(['one.png', 'two.png']);
    expect((await upload(`${path}/photos/${encodeURIComponent('drei & vier!.png')}`, 'three')).status).to.equal(200);
    expect((await upload(`${path}/photos/two.png`, 'two again')).status).to.equal(200);
    const listed = (await (await send('METADATA', `${path}/photos`)).json()) as { name: string; size: number }[];
    expect(listed.map(({ name, size }) => [name, size])).to.deep.equal([
      ['one.png', 3],
      ['drei & vier!.png', 5],
      ['two.png', 9],
    ]);
    const one = await send('GET', `${path}/photos/one.png`);
    expect([one.headers.get('content-type'), await one.text()]).to.deep.equal(['image/png', 'one']);
    // The name under which it is here says what it is; one without an extension leaves that to the original name.
    const original = { 'content-disposition': 'form-attachment; filename=of-old.txt' };
    for (const [name, type] of [
      ['four.png', 'image/png'],
      ['four', 'text/plain; charset=utf-8'],
    ] as const) {
      expect((await upload(`${path}/photos/${name}`, 'four', original)).status).to.equal(200);
      expect((await send('GET', `${path}/photos/${name}`)).headers.get('content-type')).to.equal(type);
      expect((await send('DELETE', `${path}/photos/${name}`)).status).to.equal(204);
    }
    const again = new FormData();
    again.append('file', new Blob(['other']), 'one.png');
    await refused(send('POST', `${path}/photos`, again), 409, 1402);
    const nameless = new FormData();
    nameless.append('file', new Blob(['x']), '');
    await refused(send('POST', `${path}/photos`, nameless), 400, 1400);
    await refused(send('DELETE', `${path}/photos`), 405, 1406);
    await refused(upload(`${path}/photos`), 405, 1406);
    expect((await send('DELETE', `${path}/photos/one.png`)).status).to.equal(204);
    await refused(send('GET', `${path}/photos/one.png`), 404, 1404);
    await refused(send('METADATA', `${path}/photos/one.png`), 404, 1404);
  });

  it('of one form are stored all or none', async () => {
    const form = (...files: [part: string, name: string][]): FormData => {
      const made = new FormData();
      made.append('data', '{"id":"whole"}');
      for (const [part, name] of files) made.append(part, new Blob([name]), name);
      return made;
    };
    await upload(`${path}/photos/1.png`, 'one');
    await refused(send('POST', `${path}/photos`, form(['file', '2.png'], ['file', '1.png'])), 409, 1402);
    await refused(send('POST', `${path}/photos`, form(['file', '2.png'], ['file', '2.png'])), 409, 1402);
    expect(await (await send('GET', `${path}/photos`)).json()).to.have.length(1);
    const collection = path.slice(0, path.lastIndexOf('/'));
    for (const files of [
      [['photos', '']],
      [
        ['photos', '1.png'],
        ['photos', '1.png'],
      ],
      [
        ['report', 'a.txt'],
        ['report', 'b.txt'],
      ],
    ] as [string, string][][]) {
      await refused(send('POST', collection, form(...files)), 400, 1400);
    }
    await refused(send('POST', collection, form(['title', 'a.txt'])), 404, 1404);
    await refused(send('GET', `${collection}/whole`), 404, 1404);
    expect((await send('POST', collection, form(['photos', '1.png'], ['report', 'a.txt']))).status).to.equal(200);
    const typed = (content: string): Promise<Response> => {
      const part = `--b\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n${content}`;
      return send('POST', collection, `${part}\r\n--b--\r\n`, { 'content-type': 'multipart/form-data; boundary=b' });
    };
    expect(await (await typed('{"id":"typed","title":"T"}')).json()).to.include({ id: 'typed', title: 'T' });
    await refused(typed('{"title":'), 400, 1400);
  });

  it('of a transactionlog are refused with their entity', async () => {
    const settings = { classname: `log${++classes}`, storage_mode: 'transactionlog' };
    await json('POST', '/domain/classes', { ...settings, properties: [{ name: 'f', data_type: 'attachment' }] });
    const form = new FormData();
    form.append('data', '{}');
    form.append('f', new Blob(['x']), 'x.txt');
    await refused(send('POST', `/model/${settings.classname}`, form), 422, 1405);
    const interval = encodeURIComponent('["2020-01-01","2040-01-01"]');
    const count = await send('GET', `/model/${settings.classname}?limit=0&interval=${interval}`);
    expect(await count.json()).to.deep.equal({ count: 0 });
  });

  it('are served in ranges, and with 304 to a client that has them', async () => {
    await upload(`${path}/report`);
    const part = async (range: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
      const answer = await send('GET', `${path}/report`, undefined, { range, ...headers });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    const size = CONTENT.length;
    expect(await part('bytes=0-1')).to.deep.equal([206, `bytes 0-1/${size}`, 'a ']);
    expect(await part('bytes=-6')).to.deep.equal([206, `bytes ${size - 6}-${size - 1}/${size}`, 'report']);
    expect(await part('bytes=2-')).to.deep.equal([206, `bytes 2-${size - 1}/${size}`, CONTENT.slice(2)]);
    expect(await part('bytes=2-9999')).to.deep.include(206);
    expect(await part('bytes=0-0,5-6')).to.deep.equal([200, null, CONTENT]);
    expect(await part('lines=1-2')).to.deep.equal([200, null, CONTENT]);
    expect((await part('bytes=9999-')).slice(0, 2)).to.deep.equal([416, `bytes */${size}`]);
    const etag = (await send('GET', `${path}/report`)).headers.get('etag') ?? '';
    expect(etag).to.match(/^"sha256-[0-9A-F]{64}"$/);
    expect(await part('bytes=0-1', { 'if-range': etag })).to.deep.include(206);
    expect(await part('bytes=0-1', { 'if-range': '"other"' })).to.deep.include(200);
    const known = async (header: string, value: string): Promise<number> =>
      (await send('GET', `${path}/report`, undefined, { [header]: value })).status;
    expect(await known('if-none-match', `"x", ${etag}`)).to.equal(304);
    expect(await known('if-none-match', '*')).to.equal(304);
    expect(await known('if-none-match', '"x"')).to.equal(200);
    expect(await known('if-modified-since', new Date().toUTCString())).to.equal(304);
  });

  it('keep their name when the header says its language', async () => {
    const named = { 'content-disposition': `attachment; filename*=UTF-8'en'%C2%A3%20rates.txt` };
    const info = (await (await upload(`${path}/report`, CONTENT, named)).json()) as object;
    expect(info).to.include({ filename: '£ rates.txt' });
  });

  it('whose digest differs, or that are too large, leave nothing behind', async () => {
    const digest = (value: Buffer): Record<string, string> => ({
      'content-digest': `sha-256=:${value.toString('base64')}:`,
    });
    expect((await upload(`${path}/report`, CONTENT, digest(SHA256))).status).to.equal(200);
    await refused(upload(`${path}/report`, `${CONTENT}.`, digest(SHA256)), 422, 1405);
    for (const header of ['sha-256=x', 'sha-512=:AAAA:', 'nonsense']) {
      await refused(upload(`${path}/report`, 'other', { 'content-digest': header }), 422, 1405);
    }
    const two = `sha-512=:AAAA:, sha-256=:${SHA256.toString('base64')}:`;
    expect((await upload(`${path}/report`, CONTENT, { 'content-digest': two })).status).to.equal(200);
    const form = new FormData();
    form.append('file', new Blob([CONTENT]), 'x');
    expect((await send('PUT', `${path}/report`, form, digest(SHA256))).status).to.equal(200);
    const other = new FormData();
    other.append('file', new Blob(['other']), 'x');
    await refused(send('PUT', `${path}/report`, other, digest(SHA256)), 422, 1405);
    await refused(upload(`${path}/report`, new Uint8Array(1_000_001)), 413, 1506);
    const large = new FormData();
    large.append('file', new Blob([new Uint8Array(1_000_001)]), 'large');
    await refused(send('PUT', `${path}/report`, large), 413, 1506);
    expect((await upload(`${path}/report`, new Uint8Array(1_000_000))).status).to.equal(200);
    expect(await (await upload(`${path}/report`, '')).json()).to.include({ size: 0 });
    expect(await (await send('GET', `${path}/report`)).text()).to.equal('');
    expect(incoming(node())).to.deep.equal([]);
  });

  it('with a declared length over the limit are refused before the upload', async () => {
    const socket = connect(node().port, '127.0.0.1');
    socket.write(
      `PUT /rest/v1${path}/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await node().token(ADMIN)}\r\n` +
        'Content-Type: application/octet-stream\r\nContent-Length: 99999999999\r\n\r\n',
    );
    let answer = '';
    for await (const data of socket) answer += String(data);
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
  });

  it('come with the entity in one form', async () => {
    const form = new FormData();
    form.append('data', JSON.stringify({ id: 'b', title: 'B' }));
    form.append('report', new Blob([CONTENT]), 'b.pdf');
    form.append('photos', new Blob(['1']), '1.png');
    form.append('photos', new Blob(['2']), '2.png');
    const collection = path.slice(0, -2);
    const made = await send('POST', collection, form);
    const entity = (await made.json()) as { photos: { name: string }[] };
    expect(entity).to.deep.include({ id: 'b', title: 'B' });
    expect(entity).to.have.nested.property('report.filename', 'b.pdf');
    expect(entity.photos.map(({ name }) => name)).to.deep.equal(['1.png', '2.png']);
    const octets = await send('POST', collection, JSON.stringify({ id: 'c' }), OCTETS);
    expect(await octets.json()).to.deep.include({ id: 'c' });
    const wrong = new FormData();
    wrong.append('data', '{}');
    wrong.append('nothing', new Blob(['1']), '1.png');
    await refused(send('POST', collection, wrong), 404, 1404);
    expect(incoming(node())).to.deep.equal([]);
  });

  it('cannot be set by a write of the entity', async () => {
    const forged = { hasha: HASHA, link: 'fs://etc/passwd', mtime: '', name: 'content', size: 5, filename: 'x' };
    await refused(json('PATCH', path, { report: forged }), 400, 1400);
    await refused(json('POST', path.slice(0, -2), { report: forged }), 400, 1400);
    await upload(`${path}/report`);
    const entity = (await (await send('GET', path)).json()) as object;
    expect((await json('PUT', path, entity)).status).to.equal(200);
    expect(await (await json('PATCH', path, { report: null })).json()).to.include({ report: null });
  });

  it('need an existing place, a known type, and a name within their folder', async () => {
    await refused(upload(`${path}/title`), 404, 1404);
    await refused(upload(`${path}/nothing`), 404, 1404);
    await refused(upload(`${path}x/report`), 404, 1404);
    await refused(json('PUT', `${path}/report`, { a: 1 }), 415, 1415);
    await refused(send('PUT', `${path}/report`, 'x', { 'content-type': 'text/plain' }), 415, 1415);
    for (const name of ['..', '%2E%2E', '..%2F..%2Fx', 'a%2Fb', 'a%5Cb', '%00', 'x'.repeat(300), '.']) {
      // As it is: fetch would take dots away.
      const status = await rawPut(node(), `/rest/v1${path}/photos/${name}`);
      expect([400, 403, 404], name).to.include(status);
    }
    expect(await (await send('GET', `${path}/photos`)).json()).to.deep.equal([]);
    await refused(send('POST', `${path}/photos`, 'x', OCTETS), 400, 1400);
    const empty = new FormData();
    empty.append('note', 'no file');
    await refused(send('POST', `${path}/photos`, empty), 400, 1400);
    const broken = { 'content-type': 'multipart/form-data; boundary=x' };
    await refused(send('POST', `${path}/photos`, '--x\r\nbroken', broken), 400, 1400);
    await upload(`${path}/report`);
    for (const [method, place] of [
      ['GET', 'report'],
      ['METADATA', 'report'],
      ['DELETE', 'report'],
      ['GET', 'photos'],
    ] as const) {
      await refused(send(method, `${path}/${place}`, undefined, {}, 'eve@other.local'), 404, 1404);
    }
    await refused(send('PUT', `${path}/report`, 'x', OCTETS, 'eve@other.local'), 404, 1404);
    await refused(send('GET', `${path}/report`, undefined, {}, 'alice@demo.local'), 403, 1401);
  });

  it('of the same content are one file, which goes with its last entity', async () => {
    // Of no other test.
    const content = `the content of ${path}`;
    const hex = createHash('sha256').update(content).digest('hex').toUpperCase();
    const stored = (): boolean => existsSync(join(node().folder, 'files', hex.slice(0, 2), hex));
    const other = path.replace(/a$/, 'b');
    await upload(`${path}/report`, content);
    await upload(`${path}/photos/same.txt`, content);
    await json('PUT', other, {});
    await upload(`${other}/report`, content);
    await node().model.sweepFiles(0);
    await send('DELETE', `${path}/report`);
    await send('DELETE', path);
    await node().model.sweepFiles(0);
    expect(stored()).to.equal(true);
    await send('CLEAR', path.slice(0, -2));
    expect(await node().model.sweepFiles()).to.equal(0);
    expect(stored()).to.equal(true);
    expect(await node().model.sweepFiles(0)).to.be.greaterThan(0);
    expect(stored()).to.equal(false);
  });

  it('of entities in memory and in history', async () => {
    for (const [mode, date] of [
      ['ram', ''],
      ['history', '2026-11-20/'],
    ] as const) {
      const classname = `files${++classes}`;
      const properties = [{ name: 'report', data_type: 'attachment' }];
      await json('POST', '/domain/classes', { classname, storage_mode: mode, properties });
      const place = `/model/${classname}/${date}x`;
      await json('PUT', place, {});
      expect((await upload(`${place}/report`)).status).to.equal(200);
      expect(await (await send('GET', `${place}/report`)).text()).to.equal(CONTENT);
      await node().model.sweepFiles(0);
      expect(await (await send('GET', `${place}/report`)).text()).to.equal(CONTENT);
      expect((await send('DELETE', `${place}/report`)).status).to.equal(204);
    }
  });
});

/** Uploads that never ended. */
function incoming({ folder }: DataNode): readonly string[] {
  const path = join(folder, 'files', 'incoming');
  return existsSync(path) ? readdirSync(path) : [];
}

/** Sends a path as it is written, and answers the status. */
async function rawPut(node: DataNode, path: string): Promise<number> {
  const authorization = await node.token(ADMIN);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(node.port, '127.0.0.1');
  socket.on('error', reject);
  socket.on('data', (chunk) => {
    resolve(Number(chunk.toString('latin1').split(' ')[1]));
    socket.destroy();
  });
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${authorization}\r\n` +
      'Content-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\nx',
  );
  return promise;
}
