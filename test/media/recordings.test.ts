import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { RecordingFolder, RecordingNameError } from '../../runtime/media/recordings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('the recordings of a node', () => {
  const folder = temporaryFolder({ each: true });
  let recordings: RecordingFolder;
  beforeEach(async () => {
    recordings = new RecordingFolder(folder);
  });

  it('are visible to their own domain only', async () => {
    const file = await recordings.create('Demo.local', 'voicemail-1.wav');
    expect(recordings.find('demo.local', 'voicemail-1.wav')).to.equal(undefined);
    await writeFile(file, 'RIFF');
    expect(recordings.find('demo.LOCAL', 'voicemail-1.wav')).to.equal(file);
    expect(recordings.find('other.local', 'voicemail-1.wav')).to.equal(undefined);
  });

  for (const name of ['../x', 'a/b', '..', '.hidden', '', 'a\0b', 'x'.repeat(300), 'a..b']) {
    it(`cannot have the name ${JSON.stringify(name).slice(0, 20)}`, async () => {
      expect(recordings.find('demo.local', name)).to.equal(undefined);
      const refused = await recordings.create('demo.local', name).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refused).to.be.instanceOf(RecordingNameError);
    });
  }
});
