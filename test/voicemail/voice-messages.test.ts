import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { openFiles } from '../../runtime/storage/index.ts';
import { MailboxFullError, MAX_MESSAGES, VoiceMessages } from '../../runtime/voicemail/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('voice messages', (newPlace) => {
  const storage = withStorage(newPlace);
  let folder: string;
  let suspects: string[];
  let changes: string[];
  let messages: VoiceMessages;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-voicemail-'));
    suspects = [];
    changes = [];
    messages = new VoiceMessages({
      storage: storage(),
      files: openFiles(join(folder, 'files'), undefined),
      suspect: async (hashes) => void suspects.push(...hashes),
      maxBytes: 100,
    });
    messages.onChange((domain, mailbox) => changes.push(`${domain} ${mailbox}`));
  });
  afterEach(async () => {
    messages.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function deposit(mailbox: string, sound = 'RIFF sound', domain_id = 'd1') {
    const file = join(folder, 'message.wav');
    await writeFile(file, sound);
    return messages.deposit({ domain_id, mailbox, number: '101', name: 'Alice', milliseconds: 900 }, file);
  }

  it('are kept with their sound, counted, marked and removed', async () => {
    const first = await deposit('102');
    const second = await deposit('102', 'RIFF other');
    await deposit('103');
    expect(await messages.counts('d1', '102')).to.deep.equal({ fresh: 2, old: 0 });
    expect(await messages.counts('d2', '102')).to.deep.equal({ fresh: 0, old: 0 });
    expect((await messages.list(['d1'], '102')).map(({ id }) => id)).to.deep.equal([first.id, second.id]);
    expect(await messages.mark(first, true)).to.equal(true);
    expect(await messages.counts('d1', '102')).to.deep.equal({ fresh: 1, old: 1 });
    const content = await messages.content(second.hasha, 5, 9);
    expect((await buffer(content as NodeJS.ReadableStream)).toString()).to.equal('other');
    expect(await messages.isFileInUse(second.hasha)).to.equal(true);
    expect(await messages.remove(second.id)).to.equal(true);
    expect(await messages.isFileInUse(second.hasha)).to.equal(false);
    expect(suspects.at(-1)).to.equal(second.hasha);
    expect(await messages.remove(second.id)).to.equal(false);
    expect(await messages.mark(second, true)).to.equal(false);
    expect(changes).to.deep.equal(['d1 102', 'd1 102', 'd1 103', 'd1 102', 'd1 102']);
  });

  it('go with their domain', async () => {
    const first = await deposit('102');
    await deposit('102', 'RIFF other', 'd2');
    await messages.removeOthers(['d2']);
    expect(await messages.list(['d1', 'd2'])).to.have.length(1);
    expect(suspects.at(-1)).to.equal(first.hasha);
  });

  it('are refused beyond a number and a size', async () => {
    const file = join(folder, 'message.wav');
    await writeFile(file, 'x'.repeat(101));
    const wish = { domain_id: 'd1', mailbox: '102', number: '', name: '', milliseconds: 0 };
    const large = await messages.deposit(wish, file).then(
      () => 'kept',
      (error: Error) => error.name,
    );
    expect(large).to.equal('BlobTooLargeError');
    const { hasha, size } = await deposit('102');
    const row = { ...wish, created: 1, heard: 0, size, hasha };
    const others = Array.from({ length: MAX_MESSAGES - 1 }, (_, at) => ({ ...row, id: `m${at}` }));
    await storage().db.insertInto('voice_messages').values(others).execute();
    const full = await deposit('102').then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(full).to.be.instanceOf(MailboxFullError);
  });
});
