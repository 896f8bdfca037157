import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { BlobTooLargeError, type FileStore, FileStoreError, openFiles } from '../../../runtime/storage/files/index.ts';
import { S3Server } from '../support/s3-server.ts';
import { failure, temporaryFolders } from '../support/storages.ts';

const folders = temporaryFolders();
after(() => folders.removeAll());

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const each of texts) yield Buffer.from(each);
}

async function text(content: Readable | undefined): Promise<string | undefined> {
  return content === undefined ? undefined : await readText(content);
}

let s3: S3Server;
before(async () => {
  s3 = await S3Server.start();
});
after(() => s3.close());

for (const kind of ['folder', 'S3'] as const) {
  describe(`file store in a ${kind}`, () => {
    let folder: string;
    let files: FileStore;
    beforeEach(() => {
      folder = folders.make();
      files = openFiles(folder, kind === 'S3' ? s3.url() : undefined);
    });
    const arrived = (): readonly string[] => readdirSync(join(folder, 'incoming'));

    it('content is stored under its hash, read whole and in parts, and removed', async () => {
      const received = await files.receive(chunks('0123', '456789'), 10);
      expect(received).to.include({
        size: 10,
        hasha: 'sha256;84D89877F0D4041EFB6BF91A16F0248F2FD573E6AF05C19F96BEDB9F882F7882',
      });
      const { hasha } = received;
      expect(await files.read(hasha)).to.equal(undefined);
      await files.keep(received);
      expect(arrived()).to.deep.equal([]);
      expect(await text(await files.read(hasha))).to.equal('0123456789');
      expect(await text(await files.read(hasha, { start: 2, end: 4 }))).to.equal('234');
      expect(files.link(hasha)).to.match(
        kind === 'S3' ? /^s3:\/\/.*\/bucket\/some\/prefix\/84\/84D8/ : /^fs:\/\/.*\/84\/84D8/,
      );
      await files.keep(await files.receive(chunks('0123456789'), 10));
      await files.remove(hasha);
      await files.remove(hasha);
      expect(await files.read(hasha)).to.equal(undefined);
    });

    it('content over the limit is refused and leaves no temporary file', async () => {
      expect(await failure(files.receive(chunks('0123456789', 'x'), 10))).to.be.instanceOf(BlobTooLargeError);
      await files.discard(await files.receive(chunks(''), 10));
      expect(arrived()).to.deep.equal([]);
      await files.receive(chunks('the node dies now'), 100);
      await files.tidy(new Date(Date.now() - 60_000));
      expect(arrived()).to.have.length(1);
      await files.tidy(new Date(Date.now() + 60_000));
      expect(arrived()).to.deep.equal([]);
    });

    it('a name that is not a hash is refused', async () => {
      for (const name of ['sha256;..', '../../etc/passwd', 'sha256;84d8', '']) {
        expect(await failure(files.read(name))).to.be.instanceOf(TypeError);
      }
    });
  });
}

describe('an S3-compatible store', () => {
  it('a refusal or failure is an error without the secret', async () => {
    const wrong = openFiles(folders.make(), s3.url('wrong'));
    const received = await wrong.receive(chunks('x'), 10);
    const refusal = await failure(wrong.keep(received));
    expect(refusal).to.be.instanceOf(FileStoreError);
    expect(refusal.message)
      .to.match(/403.*SignatureDoesNotMatch/)
      .and.not.contain('wrong');
    s3.failWith = 500;
    const files = openFiles(folders.make(), s3.url());
    expect(await failure(files.read(received.hasha))).to.be.instanceOf(FileStoreError);
    s3.failWith = undefined;
    const nobody = openFiles(folders.make(), 's3://a:b@127.0.0.1:9/bucket?tls=false');
    expect((await failure(nobody.read(received.hasha))).message).to.contain('RINGMASTER_FILES');
  });

  it('a URL with a missing part is refused', () => {
    for (const url of ['s3://host/bucket', 'https://a:b@host/bucket', 's3://a:b@host']) {
      expect(() => openFiles('unused', url), url).to.throw(TypeError);
    }
  });
});
