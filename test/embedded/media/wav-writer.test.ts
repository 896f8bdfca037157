import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readWav } from '../../../runtime/embedded/media/audio/wav.ts';
import { WavWriter } from '../../../runtime/embedded/media/audio/wav-writer.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SECONDS = 50;

describe('embedded media server: files of recordings', () => {
  const folder = temporaryFolder();

  const second = (sample: number): Int16Array => new Int16Array(8000).fill(sample);

  it('appending waits for a previous writer to close the file', async () => {
    const path = join(folder, 'two.wav');
    const first = await WavWriter.open(path);
    // Enough data for a slow write.
    for (let written = 0; written < SECONDS; written += 1) first.append(second(1));
    const closed = first.close();
    const next = await WavWriter.open(path, 1, true);
    next.append(second(2));
    expect(next.size).to.deep.equal({ bytes: 44 + (SECONDS + 1) * 16_000, samples: 8000 });
    await Promise.all([closed, next.close()]);
    const samples = readWav(await readFile(path));
    expect(samples.length).to.equal((SECONDS + 1) * 8000);
    expect(samples.subarray(-8000)).to.deep.equal(second(2));
    expect(samples.subarray(0, -8000).every((sample) => sample === 1)).to.equal(true);
  });

  it('appending to a missing file creates it', async () => {
    const path = join(folder, 'new.wav');
    const writer = await WavWriter.open(path, 1, true);
    writer.append(second(3));
    await writer.close();
    expect(readWav(await readFile(path))).to.deep.equal(second(3));
  });

  it('appending to a file that is no WAV is refused', async () => {
    const path = join(folder, 'else.wav');
    await writeFile(path, 'no recording');
    const opened = await WavWriter.open(path, 1, true).catch((error: unknown) => error);
    expect(opened).to.be.an('error').that.includes({ code: 'EINVAL' });
    expect(await readFile(path, 'utf8')).to.equal('no recording');
  });
});
