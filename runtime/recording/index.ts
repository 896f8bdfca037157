/** Recording of calls: rules, files, layers, the archive. */
import { hostname } from 'node:os';
import type { LiveDirectory } from '../domain/index.ts';
import type { CallEvents } from '../events/call-events.ts';
import type { Storage } from '../storage/index.ts';
import { RecordArchive, type RecordRow } from './archive.ts';
import { ConferenceRecordings } from './conference-recordings.ts';
import { fileRecord, type RecordingTools } from './file-recording.ts';
import { RecordLayers } from './layers.ts';
import { Recorder } from './recorder.ts';
import { RuleBook } from './rule-book.ts';
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
export { FileStore, type RecordStore, type StoredContent } from './store.ts';

export interface RecordingOptions {
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly events: CallEvents;
  /** Folder of the recordings, absolute. */
  readonly folder: string;
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
  /** Files what a node that was killed had begun. */
  recover(): Promise<void>;
  /** Waits until what has ended is in the archive. */
  close(): Promise<void>;
}

/** Opens the archive and reads the rules. Calls are recorded as soon as the switch tells of them. */
export async function openRecording(options: RecordingOptions): Promise<Recording> {
  const { storage, directory, events, folder, log } = options;
  const archive = new RecordArchive(storage);
  const store = await FileStore.open(folder);
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
    saved: (row) => options.saved(row),
    failed: (err, what, { id, dialogid }) =>
      log.error({ err, recordid: id, dialogid }, `${what} of a recording failed`),
  };
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
    recover: async () => {
      for (const row of await archive.unfinished(node)) await fileRecord(tools, row);
    },
    close: async () => {
      await Promise.all([recorder.settled(), layers.settled(), conferences.settled()]);
    },
  };
}
