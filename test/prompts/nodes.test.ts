import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type LiveDirectory, openDirectory } from '../../runtime/domain/index.ts';
import { createDemoData } from '../../runtime/iam/index.ts';
import { Nursery, programRunner } from '../../runtime/processes/index.ts';
import { Converter, Prompts, SoundCache } from '../../runtime/prompts/index.ts';
import { FolderFiles, type Storage } from '../../runtime/storage/index.ts';
import { describePostgres } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';

const SOUNDS = join(import.meta.dirname, 'sounds');

describePostgres('prompts of several nodes on one database', (newPlace) => {
  interface Node {
    readonly storage: Storage;
    readonly directory: LiveDirectory;
    readonly prompts: Prompts;
    readonly suspects: string[];
  }
  const nursery = new Nursery(0);
  let folder: string;
  let a: Node;
  let b: Node;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-prompts-'));
    const place = await newPlace();
    const open = async (name: string): Promise<Node> => {
      const storage = await place.open();
      await createDemoData(storage);
      const directory = await openDirectory(storage);
      const suspects: string[] = [];
      const prompts = await Prompts.open({
        collection: directory.collections.prompts,
        files: new FolderFiles(join(folder, 'files')),
        cache: await SoundCache.open(join(folder, name), { maxBytes: 10_000_000, maxFiles: 10 }),
        converter: new Converter({ run: programRunner(nursery), maxSeconds: 60 }),
        suspect: async (hashes) => void suspects.push(...hashes),
        maxBytes: 1_000_000,
      });
      return { storage, directory, prompts, suspects };
    };
    a = await open('a');
    b = await open('b');
  });
  after(async () => {
    nursery.close();
    for (const { storage } of [a, b]) await storage.close();
    await rm(folder, { recursive: true });
  });

  it('are found and played on each, after each change, and their files are given up with them', async () => {
    const { collections } = a.directory;
    const domain = a.directory.domain('demo.local')?.id ?? '';
    const fileOf = async (name: string) =>
      a.prompts.fileOf(await a.prompts.receive(createReadStream(join(SOUNDS, name))), name);
    const first = await fileOf('600.mp3');
    const { id } = await collections.prompts.create({
      domain_id: domain,
      name: 'welcome',
      language: 'de',
      file: first,
    });
    await eventually(async () => expect(b.prompts.find(domain, 'welcome', 'DE')?.kind).to.equal('mp3'));
    const wavAt = async ({ prompts }: Node) => {
      const row = prompts.find(domain, 'welcome', 'de');
      return row === undefined ? undefined : readFile(await prompts.wavOf(row));
    };
    const wav = await wavAt(a);
    expect(wav?.toString('latin1', 0, 4)).to.equal('RIFF');
    expect((await wavAt(b))?.equals(wav as Buffer)).to.equal(true);

    a.suspects.length = 0;
    await collections.prompts.update(id, { file: await fileOf('800.flac') });
    expect(a.suspects).to.include.members([first.columns.hasha, first.columns.wav_hasha]);
    await eventually(async () => expect(b.prompts.find(domain, 'welcome', 'de')?.kind).to.equal('flac'));
    expect((await wavAt(b))?.equals(wav as Buffer)).to.equal(false);
    expect(await collections.prompts.count({ equal: { hasha: first.columns.hasha } })).to.equal(0);

    await collections.prompts.remove(id);
    await eventually(async () => expect(b.prompts.find(domain, 'welcome', 'de')).to.equal(undefined));
  });
});
