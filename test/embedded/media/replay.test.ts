import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startBench } from './support/fixture.ts';
import { type Recording, Replay } from './support/replay.ts';

/** Concurrent replays: they mostly wait for sounds to end. */
const CONCURRENCY = 4;

const directory = new URL('./recordings/', import.meta.url);

async function replay(recording: Recording): Promise<string[]> {
  const bench = await startBench();
  try {
    await bench.tone('tone2s.wav', 400, 440);
    await bench.tone('tone5s.wav', 2300, 440);
    const differences = await Replay.run(bench.server, recording);
    await bench.settled();
    return differences;
  } finally {
    await bench.close();
  }
}

/** Every flow recorded with a real FreeSWITCH: the clients' part is repeated, and the server's part compared. */
describe('embedded media server: recordings of the real server', () => {
  const recordings = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({
      name: name.replace('.json', ''),
      recording: JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as Recording,
      result: Promise.withResolvers<string[]>(),
    }));

  before(() => {
    const queue = recordings.toSorted((one, other) => other.recording.steps.length - one.recording.steps.length);
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        // Evaluated by its own test.
        next.result.promise.catch(() => undefined);
        await replay(next.recording).then(next.result.resolve, next.result.reject);
      }
    };
    for (let count = 0; count < CONCURRENCY; count += 1) void work();
  });

  for (const { name, recording, result } of recordings) {
    it(`${name}: ${recording.flow}`, async () => {
      expect(await result.promise).to.deep.equal([]);
    }).timeout(60_000);
  }
});
