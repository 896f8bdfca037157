/** Recording and speech of a node: the archive, the recorders, recognition and transcripts. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import type { LiveDirectory } from '../domain/index.ts';
import { callEvents, type EventBus } from '../events/index.ts';
import type { Nursery } from '../processes/index.ts';
import { openRecording, type Recording, type TranscriptQueue } from '../recording/index.ts';
import { openSpeech, type SpeechService } from '../speech/index.ts';
import type { Storage } from '../storage/index.ts';
import { transcriptQueue } from './adapters/speech.ts';
import type { LateParts } from './late.ts';
import { type Opened, opening } from './shutdown.ts';

export interface Recordings {
  readonly recording: Recording;
  readonly speech: SpeechService;
  readonly transcriptions: TranscriptQueue;
  /** Numbers of recordings in progress, by kind. */
  counts(): { readonly recordings: number; readonly speech_streams: number; readonly transcriptions: number };
  /** Saves the unfinished recordings of a killed node. */
  recover(): Promise<void>;
}

export interface RecordingNeeds {
  readonly config: Pick<Config, 'dataDir' | 'recordings'>;
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly events: EventBus;
  /** Starts the programs of speech engines. */
  readonly nursery: Nursery;
  readonly late: LateParts;
  readonly log: Logger;
}

export function openRecordings(needs: RecordingNeeds): Promise<Opened<Recordings>> {
  const { config, storage, directory, events, nursery, late, log } = needs;
  return opening(log, async (shutdown) => {
    const speech = await openSpeech(directory, nursery, log);
    const recording = await openRecording({
      storage,
      directory,
      events: callEvents(events),
      folder: join(config.dataDir, 'archive'),
      bucket: config.recordings,
      saved: (row) => {
        if (!row.transcribe) return;
        late.transcriptions.part.request(row).catch((err: unknown) => log.error({ err }, 'transcription failed'));
      },
      log,
    });
    shutdown.add('recordings', () => recording.close());
    const transcriptions = transcriptQueue(speech, recording, directory, callEvents(events), log);
    shutdown.add('transcriptions', () => transcriptions.close());
    late.transcriptions.bind(transcriptions);
    return {
      recording,
      speech,
      transcriptions,
      counts: () => ({
        recordings: recording.recorder.count + recording.layers.count + recording.conferences.count,
        speech_streams: speech.streams,
        transcriptions: transcriptions.count,
      }),
      recover: async () => {
        await recording.recover((files) => late.media.part.endRecordings(files));
        await transcriptions.recover();
      },
    };
  });
}
