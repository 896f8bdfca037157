/** Recording of calls: rules, files, layers, the archive. */
import { hostname } from 'node:os';
import type { LiveDirectory } from '../domain/index.ts';
import type { CallEvents } from '../events/index.ts';
import { S3Bucket, s3Location, type Storage } from '../storage/index.ts';
import { RecordArchive, type RecordRow } from './archive.ts';
import { ConferenceRecordings } from './conference-recordings.ts';
import { fileRecord, type RecordingTools, refileRecord } from './file-recording.ts';
import { RecordLayers } from './layers.ts';
import { Recorder } from './recorder.ts';
import { RuleBook } from './rule-book.ts';
import { Refiling } from './refiling.ts';
import { S3RecordStore } from './s3-store.ts';
import { FileStore, type RecordStore } from './store.ts';

export { MAX_LIST, type AsrStatus, RecordArchive, type RecordQuery, type RecordRow } from './archive.ts';
export type { RecordedCall, RecordedLeg, RecordedParty } from './call.ts';
export type { ConferenceFile, ConferenceParty } from './conference-recordings.ts';
export { ConferenceRecordings } from './conference-recordings.ts';
export { RecordingError } from './errors.ts';
export { aboutRecord } from './file-recording.ts';
export { DEFAULT_LAYER_MS, RecordLayers } from './layers.ts';
export { Recorder } from './recorder.ts';
export { RuleBook } from './rule-book.ts';
export { TranscriptQueue, type Transcript } from './transcripts.ts';
export { type BorrowedFile, FileStore, type RecordStore, type StoredContent } from './store.ts';

export interface RecordingOptions {
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly events: CallEvents;
  /** Folder of the recordings, absolute. */
  readonly folder: string;
  /** `s3://KEY:SECRET@host/bucket/prefix`: where they go from there; undefined: they stay. */
  readonly bucket: string | undefined;
  /** A recording that is to be transcribed is in the archive. */
  saved(row: RecordRow): void;
  readonly log: { error(fields: object, message: string): void };
}

export interface Recording {
  readonly archive: RecordArchive;
  readonly store: RecordStore;
  readonly recorder: Recorder;
  readonly layers: RecordLayers;
  readonly conferences: ConferenceRecordings;
  /** Name of this node in the archive. */
  readonly node: string;
  /**
   * Files what a node that was killed had begun.
   * @param end has the media servers that lived on end what they still record to these files
   */
  recover(end: (files: ReadonlySet<string>) => Promise<void>): Promise<void>;
  /** Waits until what has ended is in the archive. */
  close(): Promise<void>;
}

/** Opens the archive and reads the rules. Calls are recorded as soon as the switch tells of them. */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { storage, directory, events, folder, log } = options;
  const archive = new RecordArchive(storage);
  const local = await FileStore.open(folder);
  const { bucket } = options;
  const store: RecordStore =
    bucket === undefined ? local : new S3RecordStore(new S3Bucket(s3Location(bucket), 'RINGMASTER_RECORDINGS'), local);
  const domainId = (name: string): string | undefined => directory.domain(name)?.id;
  const rules = new RuleBook(directory.collections.recordingrules, domainId);
  await rules.open();
  const node = `${hostname()}:${folder}`;
  const tools: RecordingTools = {
    archive,
    store,
    node,
    domainId,
    tell: (domain, type, data) => events.emit([domain], type, data),
    later: (row) => refiling.add(row),
    saved: (row) => {
      options.saved(row);
      // The store is there: also for what it did not take before.
      void refiling.tryAll();
    },
    failed: (err, what, { id, dialogid }) =>
      log.error({ err, recordid: id, dialogid }, `${what} of a recording failed`),
  };
  const refiling = new Refiling((row) => refileRecord(tools, row));
  const recorder = new Recorder(tools, rules);
  const layers = new RecordLayers(tools);
  const conferences = new ConferenceRecordings(tools);
  return {
    archive,
    store,
    recorder,
    layers,
    conferences,
    node,
    recover: async (end) => {
      const left = await archive.unfinished(node);
      if (left.length > 0) {
        // Whether they can be asked or not, calls can be made.
        await end(new Set(left.map(({ id }) => store.spoolFile(id)))).catch((err: unknown) =>
          log.error({ err }, 'recordings may go on that a node before this one had begun'),
        );
      }
      for (const row of left) await fileRecord(tools, row);
      for (const id of await store.spooled()) {
        const row = await archive.read(id);
        if (row?.status === 'failed' && row.node === node) refiling.add(row);
      }
      // Whether the store is there or not, calls can be made.
      void refiling.tryAll();
    },
    close: async () => {
      await Promise.all([recorder.settled(), layers.settled(), conferences.settled()]);
      await refiling.close();
    },
  };
}
