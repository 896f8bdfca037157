import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { wavOf } from '../../runtime/media/wav-file.ts';
import type { AsrStatus } from '../../runtime/recording/index.ts';
import { type Transcript, TranscriptQueue } from '../../runtime/recording/index.ts';
import { Nursery } from '../../runtime/processes/index.ts';
import { SpeechService } from '../../runtime/speech/index.ts';
import { ToneSource } from '../phones/media/tone.ts';
import { OpenAiServer } from '../speech/support/openai-server.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { recordRow } from './support/rows.ts';

describe('queue of transcriptions', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'call.wav');
  let server: OpenAiServer;
  let service: SpeechService;
  let queue: TranscriptQueue;
  let statuses: [string, AsrStatus][];
  let done: Transcript[];
  let left: ReturnType<typeof recordRow>[];
  let isInstalled: boolean;
  let failures: unknown[];

  before(async () => {
    server = await OpenAiServer.start();
    const sound = new Int16Array(8000);
    sound.set(new ToneSource(400).next(4000));
    writeFileSync(file, wavOf(sound, 8000));
  });
  beforeEach(() => {
    [statuses, done, left, failures] = [[], [], [], []];
    // No engine here is a process.
    isInstalled = false;
    service = new SpeechService(new Nursery(), () => isInstalled);
    queue = new TranscriptQueue({
      archive: {
        setTranscript: async (id: string, status: AsrStatus) => void statuses.push([id, status]),
        pendingTranscripts: async () => left,
      } as never,
      store: {
        borrow: async (link: string) =>
          link === 'fs://gone' ? undefined : { path: file, [Symbol.asyncDispose]: async () => {} },
      } as never,
      service,
      node: 'test',
      done: (_row, transcript) => void done.push(transcript),
      failed: (err) => void failures.push(err),
    });
  });
  afterEach(() => queue.close());
  after(() => server.close());

  const configure = (more: object = {}): void =>
    void service.configure({ servers: [{ engine: 'openai', url: server.url }], ...more });

  it('waits for an engine, and stores the text of each party', async () => {
    server.texts = ['one', 'two'];
    const rows = [recordRow({}), recordRow({})];
    for (const row of rows) await queue.request(row);
    expect([queue.count, done.length]).to.deep.equal([2, 0]);
    configure({ parallel_streams: 1 });
    await eventually(async () => expect(done).to.have.length(2));
    expect(done.map(({ text }) => text)).to.deep.equal(['101: one', '101: two']);
    expect(done[0]?.channels).to.deep.equal([{ channel: 0, text: 'one', side: 'a', number: '101' }]);
    expect(statuses.filter(([id]) => id === rows[0]?.id).map(([, status]) => status)).to.deep.equal([
      'queued',
      'running',
      'done',
    ]);
    await eventually(async () => expect(queue.count).to.equal(0));
  });

  it('transcribes a recording once for several requests', async () => {
    server.texts = ['once', 'anew'];
    const row = recordRow({});
    await Promise.all([queue.request(row), queue.request(row)]);
    configure();
    await queue.request(row);
    await eventually(async () => expect(queue.count).to.equal(0));
    expect(done.map(({ text }) => text)).to.deep.equal(['101: once']);
    await queue.request(row);
    await eventually(async () => expect(done.map(({ text }) => text)).to.deep.equal(['101: once', '101: anew']));
  });

  it('begins by itself when an engine is found installed', async () => {
    isInstalled = true;
    await queue.request(recordRow({ reclink: 'fs://gone' }));
    await eventually(async () => expect(queue.count).to.equal(0));
    expect(done).to.deep.equal([{ error: 'the recording is gone' }]);
    expect(failures).to.deep.equal([]);
  });

  it('waits for the activity time', async () => {
    const minutes = Math.floor(Date.now() / 60_000) % 1440;
    const clock = (at: number): string =>
      `${String(Math.floor((at % 1440) / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
    configure({ activity_time: { from: clock(minutes + 60), to: clock(minutes + 120), timezone: 'UTC' } });
    await queue.request(recordRow({}));
    expect(queue.count).to.equal(1);
    server.texts = ['later'];
    configure();
    await eventually(async () => expect(done.map(({ text }) => text)).to.deep.equal(['101: later']));
  });

  it('resumes after a restart', async () => {
    server.texts = ['again'];
    left = [recordRow({ asr_status: 'running' })];
    configure();
    await queue.recover();
    await eventually(async () => expect(done.map(({ text }) => text)).to.deep.equal(['101: again']));
  });

  it('reports failures', async () => {
    configure();
    await queue.request(recordRow({ reclink: 'fs://gone' }));
    await eventually(async () => expect(done).to.deep.equal([{ error: 'the recording is gone' }]));
    server.status = 500;
    await queue.request(recordRow({}));
    await eventually(async () => expect(done[1]?.error).to.match(/500/));
    server.status = 200;
    expect(statuses.map(([, status]) => status)).to.deep.equal([
      'queued',
      'running',
      'failed',
      'queued',
      'running',
      'failed',
    ]);
  });

  it('contains each waiting recording once', async () => {
    const row = recordRow({});
    await queue.request(row);
    await queue.request(row);
    expect(queue.count).to.equal(1);
  });
});
