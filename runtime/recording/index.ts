/** Recording of calls: rules, files, layers, the archive. */
import { hostname } from 'node:os';
import type { DomainName } from '../domain-name/index.ts';
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
  /** `s3://KEY:SECRET@host/bucket/prefix`: destination of complete recordings; undefined: they stay in the folder. */
  readonly bucket: string | undefined;
  /** A recording to be transcribed was archived. */
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
   * Archives the recordings left by a killed node.
   * @param end stops recordings to these files on media servers that are still running
   */
  recover(end: (files: ReadonlySet<string>) => Promise<void>): Promise<void>;
  /** Waits until all ended recordings are archived. */
  close(): Promise<void>;
}

/** Opens the archive and loads the rules. From then on, calls reported by the switch are recorded. */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { storage, directory, events, folder, log } = options;
  const archive = new RecordArchive(storage);
  const local = await FileStore.open(folder);
  const { bucket } = options;
  const store: RecordStore =
    bucket === undefined ? local : new S3RecordStore(new S3Bucket(s3Location(bucket), 'RINGMASTER_RECORDINGS'), local);
  const domainId = (name: DomainName): string | undefined => directory.domain(name)?.id;
  const rules = new RuleBook(directory.collections.recordingrules, domainId);
  await rules.open();
  const node = `${hostname()}:${folder}`;
  const tools: RecordingTools = {
    archive,
    store,
    node,
    domainId,
    tell: (domain, type, data) => {
      const name = directory.domain(domain)?.name;
      // A removed domain has no subscribers.
      if (name !== undefined) events.emit([name], type, data);
    },
    later: (row) => refiling.add(row),
    saved: (row) => {
      options.saved(row);
      // The store is reachable: offer the refused recordings again.
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
        // Calls work even if the media servers cannot be asked.
        await end(new Set(left.map(({ id }) => store.spoolFile(id)))).catch((err: unknown) =>
          log.error({ err }, 'recordings of an earlier node may still be running'),
        );
      }
      for (const row of left) await fileRecord(tools, row);
      for (const id of await store.spooled()) {
        const row = await archive.read(id);
        if (row?.status === 'failed' && row.node === node) refiling.add(row);
      }
      // Calls work even without the store.
      void refiling.tryAll();
    },
    close: async () => {
      await Promise.all([recorder.settled(), layers.settled(), conferences.settled()]);
      await refiling.close();
      const writes = await archive.close();
      if (writes > 0) log.error({ writes }, 'entries of recordings are lost: the database did not take them');
    },
  };
}
