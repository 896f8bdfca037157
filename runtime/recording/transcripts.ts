/** The queue of transcriptions. */
import { SpeechError, type SpeechService, type TranscribedChannel, transcribeFile } from '../speech/index.ts';
import type { RecordArchive, RecordRow } from './archive.ts';
import type { RecordStore } from './store.ts';

export interface TranscriptTools {
  readonly archive: RecordArchive;
  readonly store: RecordStore;
  readonly service: SpeechService;
  /** Name of this node in the archive: each node transcribes its own recordings. */
  readonly node: string;
  /** A transcription has finished or failed. */
  readonly done: (row: RecordRow, transcript: Transcript) => void;
  readonly failed: (err: unknown, row: Pick<RecordRow, 'id' | 'dialogid'>) => void;
}

/** The stored result of a transcription. */
export interface Transcript {
  /** The text, one line per party. */
  readonly text?: string;
  readonly channels?: readonly (TranscribedChannel & { readonly side: string; readonly number: string })[];
  /** Reason of a failure. */
  readonly error?: string;
}

/**
 * The queue of transcriptions (specification, "TRANSCRIBE"). It is kept in the archive and survives restarts; streams
 * are used in order, as they become free, within the activity time.
 */
export class TranscriptQueue {
  readonly #tools: TranscriptTools;
  readonly #waiting: RecordRow[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Ids of waiting and running ones, and of those being queued. */
  readonly #asked = new Set<string>();
  readonly #stop = new AbortController();
  readonly #leave: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(tools: TranscriptTools) {
    this.#tools = tools;
    this.#leave = tools.service.onChange(() => this.#pump());
  }

  /** Number of waiting and running transcriptions. */
  get count(): number {
    return this.#waiting.length + this.#running.size;
  }

  /** Resumes the transcriptions left by the last run of the node. */
  async recover(): Promise<void> {
    const left = await this.#tools.archive.pendingTranscripts(this.#tools.node);
    for (const { id } of left) this.#asked.add(id);
    this.#waiting.push(...left);
    this.#pump();
  }

  /** Queues the transcription of a saved recording; ignored while one is pending. */
  async request(row: RecordRow): Promise<void> {
    if (this.#asked.has(row.id)) return;
    this.#asked.add(row.id);
    try {
      await this.#tools.archive.setTranscript(row.id, 'queued', {});
    } catch (error) {
      this.#asked.delete(row.id);
      throw error;
    }
    this.#waiting.push(row);
    this.#pump();
  }

  /** Stops the running transcriptions; they resume at the next start. */
  async close(): Promise<void> {
    this.#leave();
    this.#stop.abort();
    clearTimeout(this.#timer);
    await Promise.all(this.#running);
  }

  /** Starts as many as permitted now. */
  #pump(): void {
    const { service } = this.#tools;
    while (!this.#stop.signal.aborted && this.#waiting.length > 0 && service.configured) {
      const wait = service.untilActive(Date.now());
      if (wait > 0) return this.#later(wait);
      if (service.free === 0 || this.#running.size >= service.capacity) return;
      const row = this.#waiting.shift() as RecordRow;
      const work: Promise<void> = this.#transcribe(row).finally(() => {
        this.#running.delete(work);
        if (!this.#waiting.includes(row)) this.#asked.delete(row.id);
        this.#pump();
      });
      this.#running.add(work);
    }
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), ms).unref();
  }

  /** Never rejects. */
  async #transcribe(row: RecordRow): Promise<void> {
    const { archive, store, service, failed } = this.#tools;
    try {
      await archive.setTranscript(row.id, 'running', {});
      await using file = await store.borrow(row.reclink);
      if (file === undefined) return await this.#settle(row, 'failed', { error: 'the recording is gone' });
      const channels = await transcribeFile(service, file.path, { signal: this.#stop.signal });
      await this.#settle(row, 'done', transcriptOf(row, channels));
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      // A live call took the stream: try again in turn.
      if (error instanceof SpeechError && error.code === 'busy') return void this.#waiting.unshift(row);
      failed(error, row);
      await this.#settle(row, 'failed', { error: (error as Error).message }).catch((err: unknown) => failed(err, row));
    }
  }

  async #settle(row: RecordRow, status: 'done' | 'failed', transcript: Transcript): Promise<void> {
    await this.#tools.archive.setTranscript(row.id, status, { ...transcript });
    this.#tools.done({ ...row, asr_status: status }, transcript);
  }
}

function transcriptOf({ parties }: RecordRow, channels: readonly TranscribedChannel[]): Transcript {
  const known = parties as readonly { side: string; channel: number; number: string }[];
  const named = channels.map((each) => {
    const { side = '', number = '' } = known.find(({ channel }) => channel === each.channel) ?? {};
    return { ...each, side, number };
  });
  const lines = named.flatMap(({ number, text }) => (text === '' ? [] : [number === '' ? text : `${number}: ${text}`]));
  return { text: lines.join('\n'), channels: named };
}
