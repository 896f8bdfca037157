import type { RecordRow } from './archive.ts';
import type { RecordedParty } from './call.ts';
import { failRecord, fileRecord, newRow, type RecordingTools } from './file-recording.ts';

/** Milliseconds to wait for the word that a file is complete, when its conference is over. */
const COMPLETE_MS = 5000;

/** A conference whose mix is recorded. */
export interface RecordedConference {
  readonly confid: string;
  readonly domain: string;
}

/** Somebody who took part; all are heard on the one channel of the file. */
export type ConferenceParty = Omit<RecordedParty, 'side' | 'channel'>;

/** A recording of a whole conference that goes on. */
export interface ConferenceFile {
  /** Id in the archive. */
  readonly id: string;
  /**
   * The conference is over, and with it the recording: it is filed.
   * @param parties everybody who took part
   */
  finish(parties: readonly ConferenceParty[]): void;
}

/** Recordings of whole conferences: one file each, in the archive as those of calls are. */
export class ConferenceRecordings {
  readonly #tools: RecordingTools;
  readonly #open = new Set<Promise<unknown>>();
  #count = 0;

  constructor(tools: RecordingTools) {
    this.#tools = tools;
  }

  /** Recordings that go on. */
  get count(): number {
    return this.#count;
  }

  /**
   * Begins one.
   * @param record has the media server write to a file; tells when the file is complete
   * @throws MediaError; it has been reported failed then
   */
  async start(
    conference: RecordedConference,
    record: (file: string) => Promise<{ readonly completed: Promise<unknown> }>,
  ): Promise<ConferenceFile> {
    const { archive, store, failed } = this.#tools;
    const { confid, domain } = conference;
    // The conference stands where a call has its ids; like the recordings of its participants it has its id as layer.
    const row = newRow(this.#tools, domain, { idconn: confid, layer: confid });
    const added = archive.add(row).catch((err: unknown) => failed(err, 'index', row));
    try {
      const { completed } = await record(store.spoolFile(row.id));
      this.#count += 1;
      return {
        id: row.id,
        finish: (parties) => {
          this.#count -= 1;
          this.#background(added.then(() => this.#file({ ...row, parties }, completed)));
        },
      };
    } catch (error) {
      await added;
      await failRecord(this.#tools, row, (error as Error).message);
      throw error;
    }
  }

  /** Resolves when every recording whose conference is over is in the archive. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** Never rejects. */
  async #file(
    row: RecordRow & { readonly parties: readonly ConferenceParty[] },
    completed: Promise<unknown>,
  ): Promise<void> {
    const { archive, failed } = this.#tools;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, COMPLETE_MS);
    });
    await Promise.race([completed, late]);
    clearTimeout(timer);
    await archive.setParties(row.id, row.parties).catch((err: unknown) => failed(err, 'index', row));
    await fileRecord(this.#tools, row);
  }

  #background(work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.finally(() => this.#open.delete(settled));
    this.#open.add(settled);
  }
}
