import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { wavOf } from '../../runtime/media/wav-file.ts';
import type { RecordEnd, RecordRow } from '../../runtime/recording/archive.ts';
import { fileRecord, type RecordingTools, refileRecord } from '../../runtime/recording/file-recording.ts';
import { FileStore } from '../../runtime/recording/index.ts';
import { S3RecordStore } from '../../runtime/recording/s3-store.ts';
import { S3Bucket, s3Location } from '../../runtime/storage/files/index.ts';
import { S3Server } from '../storage/support/s3-server.ts';
import { recordRow } from './support/rows.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('filing of a recording', () => {
  const folder = temporaryFolder({ each: true });
  let store: FileStore;
  let ends: RecordEnd[];
  let told: { domain: string; type: string; data: Readonly<Record<string, unknown>> }[];
  let archived: RecordRow[];
  let waiting: RecordRow[];
  let tools: RecordingTools;

  beforeEach(async () => {
    store = await FileStore.open(folder);
    [ends, told, archived, waiting] = [[], [], [], []];
    tools = {
      archive: { finish: async (_id: string, end: RecordEnd) => void ends.push(end) } as never,
      store,
      tell: (domain, type, data) => void told.push({ domain, type, data }),
      saved: (row) => void archived.push(row),
      later: (row) => void waiting.push(row),
      node: 'test',
      domainId: () => 'd1',
      failed: () => undefined,
    };
  });

  const sound = wavOf(new Int16Array(8000).fill(1000), 8000);

  it('moves the file to its place, with hash and length', async () => {
    const row = recordRow({ startts: Date.parse('2026-11-21T23:30:00Z') });
    await writeFile(store.spoolFile(row.id), sound);
    const filed = await fileRecord(tools, row);
    const reclink = `fs://main/one.local/2026/11/21/${row.id}.wav`;
    const sha256 = createHash('sha256').update(sound).digest('hex');
    expect(filed).to.include({ status: 'saved', length: 1000, size: sound.length, sha256, reclink });
    expect(ends).to.have.length(1);
    expect(told.map(({ domain, type }) => [domain, type])).to.deep.equal([['One.local', 'record_saved']]);
    expect(told[0]?.data).to.include({ connectionid: row.idconn, recordid: row.id, reclink, sha256, length: 1000 });
    expect(archived.map(({ id }) => id)).to.deep.equal([row.id]);
    const file = await store.localFile(reclink);
    expect((await readFile(file ?? '')).equals(sound)).to.equal(true);
    await store.remove(reclink);
    expect(await store.localFile(reclink)).to.equal(undefined);
  });

  it('repairs an unclosed file', async () => {
    const row = recordRow({});
    const unfinished = Buffer.from(sound);
    unfinished.writeUInt32LE(0, 40);
    // Killed in the middle of a sample.
    await writeFile(store.spoolFile(row.id), unfinished.subarray(0, unfinished.length - 3));
    const { status, length, reclink } = await fileRecord(tools, row);
    expect([status, length]).to.deep.equal(['saved', 999]);
    const file = await readFile((await store.localFile(reclink)) ?? '');
    expect(file.readUInt32LE(40)).to.equal(file.length - 44);
    expect(file.readUInt32LE(4)).to.equal(file.length - 8);
  });

  it('keeps a recording cut off by a full disk, and reports it as failed', async () => {
    const row = recordRow({});
    await writeFile(store.spoolFile(row.id), sound);
    const filed = await fileRecord(tools, row, 'broken');
    expect(filed).to.include({ status: 'failed', reason: 'only a part could be written', length: 1000 });
    expect(await store.localFile(filed.reclink)).to.be.a('string');
    expect(told.map(({ type, data }) => [type, data['reason']])).to.deep.equal([['record_failed', filed.reason]]);
    expect(archived).to.deep.equal([]);
  });

  it('finds a file already moved before a crash', async () => {
    const row = recordRow({});
    await writeFile(store.spoolFile(row.id), sound);
    const first = await fileRecord(tools, row);
    const again = await fileRecord(tools, row);
    expect(again).to.include({ status: 'saved', reclink: first.reclink, sha256: first.sha256 });
  });

  it('moves the file into its named storage', async () => {
    const row = recordRow({ storage: 'long-term' });
    await writeFile(store.spoolFile(row.id), sound);
    const { reclink } = await fileRecord(tools, row);
    expect(reclink).to.match(/^fs:\/\/long-term\/one\.local\//);
  });

  const failures: readonly [string, Partial<RecordRow>, Buffer | undefined, RegExp][] = [
    ['no file', {}, undefined, /left no file/],
    ['no sound', {}, sound.subarray(0, 44), /no sound/],
    ['something else in the file', {}, Buffer.from('not a recording at all'), /not a WAV file/],
    ['a storage that leads elsewhere', { storage: '..' }, sound, /is not a valid name/],
  ];
  for (const [what, fields, content, reason] of failures) {
    it(`reports ${what} as failed`, async () => {
      const row = recordRow(fields);
      if (content !== undefined) await writeFile(store.spoolFile(row.id), content);
      const filed = await fileRecord(tools, row);
      expect(filed.status).to.equal('failed');
      expect(filed.reason).to.match(reason);
      expect(told.map(({ type }) => type)).to.deep.equal(['record_failed']);
      expect(told[0]?.data['reason']).to.match(reason);
      expect(archived).to.deep.equal([]);
    });
  }

  it('keeps a file refused by the store, and stores it later', async () => {
    const s3 = await S3Server.start();
    try {
      const remote = new S3RecordStore(new S3Bucket(s3Location(s3.url()), 'TEST'), store);
      const row = recordRow({});
      await writeFile(store.spoolFile(row.id), sound);
      s3.failWith = 503;
      const lost = { ...tools, store: remote };
      expect((await fileRecord(lost, row)).status).to.equal('failed');
      expect(told.map(({ type }) => type)).to.deep.equal(['record_failed']);
      expect(waiting).to.deep.equal([row]);
      expect(await refileRecord(lost, row)).to.equal(false);
      expect(told).to.have.length(1);
      s3.failWith = undefined;
      expect(await refileRecord(lost, row)).to.equal(true);
      expect(told.map(({ type }) => type)).to.deep.equal(['record_failed', 'record_saved']);
      expect(await store.spooled()).to.deep.equal([]);
      const reclink = String(told[1]?.data['reclink']);
      expect(reclink).to.match(/^s3:.*\/some\/prefix\/main\/one\.local\/\d{4}\/\d\d\/\d\d\/[^/]+\.wav$/);
      const content = await remote.read(reclink);
      if (content === undefined) throw new Error('it is not in the bucket');
      expect(content.bytes).to.equal(sound.length);
      expect((await buffer(content.stream(4, 11))).equals(sound.subarray(4, 12))).to.equal(true);
      {
        await using copy = await remote.borrow(reclink);
        expect((await readFile(copy?.path ?? '')).equals(sound)).to.equal(true);
      }
      await remote.remove(reclink);
      expect([await remote.read(reclink), await remote.borrow(reclink)]).to.deep.equal([undefined, undefined]);
      expect(s3.refused).to.deep.equal([]);
    } finally {
      await s3.close();
    }
  });

  it('never leaves its folder', async () => {
    const outside = join(folder, '..', 'outside.wav');
    for (const link of ['fs://../outside.wav', `fs://${outside}`, 'http://one/two', 'fs://'])
      expect(await store.localFile(link), link).to.equal(undefined);
    expect((await stat(folder)).isDirectory()).to.equal(true);
  });
});
