/** Records a call into a file and archives it. */
import { randomUUID } from 'node:crypto';
import { type DomainName, domainKey } from '../domain-name/index.ts';
import type { CallEventData } from '../events/index.ts';
import { ChannelRecording, MediaError, type RecordingEnd, repairWav, wavDuration } from '../media/index.ts';
import type { RecordArchive, RecordEnd, RecordRow } from './archive.ts';
import { partiesOf, type RecordedCall, type RecordedLeg } from './call.ts';
import { type RecordStore, StorageNameError } from './store.ts';

/** Shared parts of a node's recordings. */
export interface RecordingTools {
  readonly archive: RecordArchive;
  readonly store: RecordStore;
  /**
   * Publishes the outcome of a recording (`record_saved`, `record_failed`).
   * @param domain as the archive spells it
   */
  tell(domain: string, type: 'record_saved' | 'record_failed', data: CallEventData): void;
  /** The store refused a recording, which has to be offered again. */
  later(row: RecordRow): void;
  /** A recording was archived. */
  saved(row: RecordRow): void;
  /** Name of this node in the index. */
  readonly node: string;
  domainId(name: DomainName): string | undefined;
  readonly failed: (err: unknown, what: string, row: Pick<RecordRow, 'id' | 'dialogid'>) => void;
}

export interface FileRecordingOptions {
  readonly call: RecordedCall;
  /** The leg whose channel records; it has an endpoint. */
  readonly leg: RecordedLeg;
  readonly domain: DomainName;
  /** Empty: the main recording. */
  readonly layer: string;
  readonly ruleId: string;
  readonly storage: string;
  readonly transcribe: boolean;
  /** True: records only the leg's party. */
  readonly alone?: boolean;
  /** True: writes silence until `resume`. */
  readonly paused?: boolean;
}

/** A call that is over within this time, in milliseconds, before any sound was recorded, is no failure. */
const PASSING_MS = 1000;

/** One recording of a call: a growing file, then an entry of the archive. */
export class FileRecording {
  readonly id: string;
  /** Resolves when it is archived or reported as failed. Never rejects. */
  readonly finished: Promise<RecordRow>;
  readonly #tools: RecordingTools;
  readonly #row: RecordRow;
  readonly #channel: ChannelRecording;
  readonly #added: Promise<void>;
  readonly #finish = Promise.withResolvers<RecordRow>();
  #finishing = false;

  private constructor(tools: RecordingTools, row: RecordRow, channel: ChannelRecording, added: Promise<void>) {
    this.#tools = tools;
    this.#row = row;
    this.#channel = channel;
    this.#added = added;
    this.id = row.id;
    this.finished = this.#finish.promise;
    // The end of the leg completes the file, too.
    void channel.completed.then(() => this.stop());
  }

  /** @throws MediaError, EndpointGone; after the failure was reported */
  static async start(tools: RecordingTools, options: FileRecordingOptions): Promise<FileRecording> {
    const { leg, alone = false, paused = false } = options;
    const row = rowOfCall(tools, options);
    const file = tools.store.spoolFile(row.id);
    if (leg.endpoint === undefined) throw new MediaError('a scenario has no sound of its own', 422);
    // The recording starts without waiting for the index.
    const added = tools.archive.add(row);
    added.catch(() => undefined);
    try {
      const party = alone ? 'alone' : leg.side === 'a' ? 'left' : 'right';
      const channel = await ChannelRecording.start(leg.endpoint, { file, party, paused });
      return new FileRecording(tools, row, channel, added);
    } catch (error) {
      await added.catch((err: unknown) => tools.failed(err, 'index', row));
      await endRecord(tools, row, failure((error as Error).message), false);
      throw error;
    }
  }

  async pause(): Promise<void> {
    await this.#channel.pause();
  }

  async resume(): Promise<void> {
    await this.#channel.resume();
  }

  /** Ends and archives it. Idempotent; never rejects. */
  async stop(): Promise<RecordRow> {
    if (!this.#finishing) {
      this.#finishing = true;
      const end = await this.#channel.stop();
      await this.#added.catch((err: unknown) => this.#tools.failed(err, 'index', this.#row));
      this.#finish.resolve(await fileRecord(this.#tools, this.#row, end));
    }
    return this.finished;
  }
}

/** Reports a recording that could not be started. Never rejects. */
export async function failRecord(tools: RecordingTools, row: RecordRow, reason: string): Promise<void> {
  await endRecord(tools, row, failure(reason), false);
}

/**
 * Archives a recording with a complete file, or with the part that was written. Never rejects.
 * @param written `broken`: reported as failed, the written part is kept
 */
export async function fileRecord(
  tools: RecordingTools,
  row: RecordRow,
  written: RecordingEnd = 'whole',
): Promise<RecordRow> {
  const { end: kept, again, isEmpty } = await filed(tools, row);
  if (isEmpty && row.layer === '' && Date.now() - row.startts < PASSING_MS) return forget(tools, row, kept);
  const cut = written === 'broken' && kept.status === 'saved';
  const end: RecordEnd = cut ? { ...kept, status: 'failed', reason: 'only a part could be written' } : kept;
  if (again) tools.later(row);
  return endRecord(tools, row, end, again);
}

/**
 * Offers the store a recording that it refused before. Never rejects.
 * @returns false when the store refuses it again
 */
export async function refileRecord(tools: RecordingTools, row: RecordRow): Promise<boolean> {
  const { end, again } = await filed(tools, row);
  if (end.status === 'saved') await endRecord(tools, row, end, false);
  return !again;
}

/**
 * Removes the entry of a recording that has nothing. Calls that an operation makes on its way, such as those of SWITCHCONF,
 * last some milliseconds. Never rejects.
 */
async function forget({ archive, store, failed }: RecordingTools, row: RecordRow, end: RecordEnd): Promise<RecordRow> {
  try {
    await archive.remove(row.id);
    await store.settled(row.id);
  } catch (error) {
    failed(error, 'index', row);
  }
  return { ...row, ...end };
}

interface Filed {
  readonly end: RecordEnd;
  /** Refused now, to be offered later. */
  readonly again: boolean;
  /** The media server wrote no sound. */
  readonly isEmpty?: true;
}

async function filed({ store, failed }: RecordingTools, row: RecordRow): Promise<Filed> {
  const { id, domain, startts, storage } = row;
  const details = { id, domain, startts, storage };
  let isComplete = false;
  try {
    const file = await store.completeFile(details);
    const shape = await repairWav(file);
    if (shape.dataBytes === 0) return { end: failure('the call had no sound'), again: false, isEmpty: true };
    isComplete = true;
    const { bytes: size, sha256, reclink } = await store.keep(file, details);
    const length = wavDuration(shape);
    return { end: { status: 'saved', reason: '', endts: Date.now(), length, size, sha256, reclink }, again: false };
  } catch (error) {
    if (!isComplete && (error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { end: failure('the media server left no file'), again: false, isEmpty: true };
    }
    failed(error, 'filing', row);
    return {
      end: failure((error as Error).message),
      again: isComplete && !(error instanceof StorageNameError),
    };
  }
}

/** @param again true: the file must stay in the spool */
async function endRecord(tools: RecordingTools, before: RecordRow, end: RecordEnd, again: boolean): Promise<RecordRow> {
  const row: RecordRow = { ...before, ...end };
  try {
    await tools.archive.finish(row.id, end);
    if (!again) await tools.store.settled(row.id);
  } catch (error) {
    // The file is safe in its place; its name identifies it later.
    tools.failed(error, 'index', row);
  }
  const { status, reason, sha256, reclink, length, size } = row;
  tools.tell(row.domain, status === 'saved' ? 'record_saved' : 'record_failed', {
    ...aboutRecord(row),
    ...(status === 'saved' ? { reclink, sha256, length, size } : { reason }),
  });
  if (status === 'saved') tools.saved(row);
  return row;
}

/** Common data of recording events. */
export function aboutRecord(row: RecordRow): CallEventData {
  const { inviteid, idconn, dialogid, id, layer, domain, startts, parties } = row;
  return {
    inviteid,
    connectionid: idconn,
    dialogid,
    recordid: id,
    layer,
    domain,
    startts,
    parties: parties as readonly Readonly<Record<string, string | number>>[],
  };
}

function failure(reason: string): RecordEnd {
  return { status: 'failed', reason, endts: Date.now(), length: 0, size: 0, sha256: '', reclink: '' };
}

/** The row of a new recording, with defaults for unknown fields. */
export function newRow(
  tools: RecordingTools,
  domain: DomainName,
  known: Partial<RecordRow> & Pick<RecordRow, 'idconn' | 'layer'>,
): RecordRow {
  return {
    id: randomUUID(),
    domain_id: tools.domainId(domain) ?? '',
    domain,
    inviteid: '',
    dialogid: '',
    rule_id: '',
    storage: '',
    status: 'recording',
    reason: '',
    startts: Date.now(),
    endts: 0,
    length: 0,
    size: 0,
    sha256: '',
    reclink: '',
    parties: [],
    transcribe: false,
    asr_status: '',
    asr_since: 0,
    transcript: {},
    node: tools.node,
    ...known,
  };
}

function rowOfCall(tools: RecordingTools, options: FileRecordingOptions): RecordRow {
  const { call, leg, alone, domain, layer, ruleId, storage, transcribe } = options;
  return newRow(tools, domain, {
    // A connection is the result of one initiating INVITE: both share an id.
    idconn: call.inviteid,
    inviteid: call.inviteid,
    dialogid: call.dialogid,
    layer,
    // REST shows the domain of a main recording in lower case, as the archive has always stored it.
    ...(layer === '' && { domain: domainKey(domain) }),
    rule_id: ruleId,
    storage,
    parties: partiesOf(call, alone === true ? leg : undefined),
    transcribe,
  });
}
