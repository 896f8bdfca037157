/** Speech recognition as scenarios and operations ask for it: finds calls and recordings, and makes their errors. */
import type { DomainName } from '../../domain-name/index.ts';
import { ScenarioError } from '../../language/index.ts';
import { type CallSpeechPort, type TranscriptPort, type TranscriptSource, unavailable } from '../../runs/index.ts';
import { visible } from './call-recording.ts';
import type { Directory } from '../../domain/index.ts';
import type { CallEvents, EventBus } from '../../events/index.ts';
import {
  aboutRecord,
  type BorrowedFile,
  type RecordArchive,
  type RecordRow,
  type RecordStore,
  TranscriptQueue,
} from '../../recording/index.ts';
import {
  NO_ENGINE,
  recogniseSpeech,
  SpeechError,
  SpeechLayerError,
  SpeechLayers,
  type SpeechService,
  transcribeFile,
} from '../../speech/index.ts';
import type { ListenTo, LiveCall } from '../../switch/index.ts';

/** Lookup of live calls. */
export interface LiveCalls {
  readonly find: (dialogid: string) => LiveCall | undefined;
  /** The answered call of a leg. */
  readonly ofLeg: (callid: string) => LiveCall | undefined;
}

/** Layers of speech recognition with results on the event bus (`asrevents`). */
export function speechLayers(service: SpeechService, events: EventBus, calls: LiveCalls): SpeechLayers {
  return new SpeechLayers(service, (domain, callid, layer, { type, ...notice }) => {
    const call = calls.ofLeg(callid);
    const { dialogid = '', inviteid = '' } = call ?? {};
    const data = { inviteid, connectionid: inviteid, dialogid, callid, layer, ...notice };
    events.publish({ domain, class: 'asrevents', type, data });
  });
}

export function callSpeechPort(layers: SpeechLayers, { find }: LiveCalls): CallSpeechPort {
  const legOf = ({ legs }: LiveCall, callid: string) => {
    const leg = legs.find((each) => each.callid === callid);
    if (leg === undefined) throw new SpeechLayerError('callid', 'is no side of the dialog');
    return leg;
  };
  return {
    addLayer: ({ domain, dialogid, callid, layer, language }) =>
      layered(() => {
        const call = visible(find, domain, dialogid);
        const { legs } = call;
        const leg = legOf(call, callid);
        return layers.add(legs, { domain, leg, layer, ...(language === undefined ? {} : { language }) });
      }),
    removeLayer: (domain, dialogid, layer, wait) =>
      layered(() => layers.remove(visible(find, domain, dialogid).legs, domain, layer, wait)),
    check: (domain, dialogid, change) => {
      const call = visible(find, domain, dialogid);
      try {
        if (change.command === 'add') layers.checkAdd(legOf(call, change.callid));
        else layers.checkRemove(call.legs, domain, change.layer);
      } catch (error) {
        throw refusal(error);
      }
    },
  };
}

/** Speech recognition of callers by scenarios. */
export function listener(service: SpeechService): ListenTo {
  return (endpoint, options) => understood(() => recogniseSpeech(service, endpoint, options));
}

export interface TranscriptNeeds {
  readonly service: SpeechService;
  readonly archive: RecordArchive;
  readonly store: RecordStore;
  readonly queue: TranscriptQueue;
}

export function transcriptPort({ service, archive, store, queue }: TranscriptNeeds): TranscriptPort {
  const fileOf = async (source: TranscriptSource, domain: DomainName): Promise<BorrowedFile> => {
    if ('file' in source) return { path: source.file, [Symbol.asyncDispose]: () => Promise.resolve() };
    const row = await archive.findByLink(domain, source.reclink);
    const borrowed = row === undefined ? undefined : await store.borrow(row.reclink);
    if (borrowed === undefined) throw notFound();
    return borrowed;
  };
  const wanted = async (domain: DomainName, idconn: string, reclink: string): Promise<RecordRow> => {
    const row = await archive.find(domain, idconn, reclink);
    if (row === undefined) throw notFound();
    if (!service.configured) throw notApplicable('record_asr_options', NO_ENGINE);
    return row;
  };
  return {
    request: async (domain, idconn, reclink) => queue.request(await wanted(domain, idconn, reclink)),
    checkRequest: async (domain, idconn, reclink) => {
      await wanted(domain, idconn, reclink);
    },
    transcribe: async (source, { domain, language, hints, signal }) => {
      await using file = await fileOf(source, domain);
      const options = { hints, signal, ...(language === undefined ? {} : { language }) };
      return await understood(() => transcribeFile(service, file.path, options));
    },
  };
}

/** The queue of transcriptions; the event `ccsevents.connection_set_asr` announces each end. */
export function transcriptQueue(
  service: SpeechService,
  { archive, store, node }: { readonly archive: RecordArchive; readonly store: RecordStore; readonly node: string },
  directory: Pick<Directory, 'domain'>,
  events: CallEvents,
  log: { error(fields: object, message: string): void },
): TranscriptQueue {
  return new TranscriptQueue({
    archive,
    store,
    service,
    node,
    done: (row: RecordRow, { text, error }) => {
      const domain = directory.domain(row.domain)?.name;
      // A removed domain has no subscribers.
      if (domain === undefined) return;
      events.transcribed([domain], {
        ...aboutRecord(row),
        reclink: row.reclink,
        result: error === undefined ? 'ok' : 'error',
        ...(error === undefined ? { text: text ?? '' } : { reason: error }),
      });
    },
    failed: (err, { id, dialogid }) => log.error({ err, recordid: id, dialogid }, 'transcription failed'),
  });
}

function notFound(): ScenarioError {
  return new ScenarioError('recording_not_found', 'Recording not found', { details: { entity: 'Recording' } });
}

function notApplicable(field: string, reason: string, cause?: unknown): ScenarioError {
  return new ScenarioError('not_applicable', `${field}: ${reason}`, { cause, details: { field, reason } });
}

async function layered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(error: unknown): unknown {
  return error instanceof SpeechLayerError ? notApplicable(error.field, error.reason, error) : error;
}

async function understood<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SpeechError)) throw error;
    if (error.code === 'not_configured') throw unavailable(error.message);
    throw new ScenarioError(error.code === 'busy' ? 'speech_busy' : 'speech_failed', error.message, { cause: error });
  }
}
