/** Records whole conferences into the archive. */
import type { DomainName } from '../domain-name/index.ts';
import type { RecordRow } from './archive.ts';
import type { RecordedParty } from './call.ts';
import { failRecord, fileRecord, newRow, type RecordingTools } from './file-recording.ts';

/** Milliseconds to wait for the notice of a complete file after the end of the conference. */
const COMPLETE_MS = 5000;

/** A conference with a recorded mix. */
export interface RecordedConference {
  readonly confid: string;
  readonly domain: DomainName;
}

/** A participant; all are recorded on the file's single channel. */
export type ConferenceParty = Omit<RecordedParty, 'side' | 'channel'>;

/** A running recording of a whole conference. */
export interface ConferenceFile {
  /** Id in the archive. */
  readonly id: string;
  /**
   * Ends with the conference: archives the recording.
   * @param parties all participants
   */
  finish(parties: readonly ConferenceParty[]): void;
}

/** Recordings of whole conferences: one file each, in the archive beside those of calls. */
export class ConferenceRecordings {
  readonly #tools: RecordingTools;
  readonly #open = new Set<Promise<unknown>>();
  #count = 0;

  constructor(tools: RecordingTools) {
    this.#tools = tools;
  }

  /** Running recordings. */
  get count(): number {
    return this.#count;
  }

  /**
   * Begins a recording.
   * @param record lets the media server write to a file; resolves when the file is complete
   * @throws MediaError after the failure was reported
   */
  async start(
    conference: RecordedConference,
    record: (file: string) => Promise<{ readonly completed: Promise<unknown> }>,
  ): Promise<ConferenceFile> {
    const { archive, store, failed } = this.#tools;
    const { confid, domain } = conference;
    // The conference's id takes the place of the call ids; as in recordings of participants, it is also the layer.
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

  /** Resolves when the recordings of all ended conferences are archived. */
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
