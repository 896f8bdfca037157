import type { MediaEndpoint } from './endpoint.ts';
import { MediaError } from './media-error.ts';
import type { RecordingEnd } from './recording-notices.ts';
import { quoted } from './quoted.ts';

/** Milliseconds to wait for the word that a file is complete, when it was stopped or its channel has ended. */
const COMPLETE_MS = 5000;
/**
 * Frames of 20 ms by which FreeSWITCH holds a recording back, to keep both directions in step. Of one that ends sooner
 * nothing is written, and shipped it is half a second.
 */
const PRE_BUFFER_FRAMES = 5;

export interface ChannelRecordingOptions {
  /** WAV file, absolute; its folder exists. */
  readonly file: string;
  /** The party is heard left and what it hears right; or the other way round; or it is heard alone, on one channel. */
  readonly party: 'left' | 'right' | 'alone';
  /** Silence is written until `resume`. */
  readonly paused?: boolean;
}

/**
 * A recording of a channel, of both directions or of what its party says, beside whatever the channel does: through holds,
 * bridges and transfers, until it is stopped or the channel ends.
 */
export class ChannelRecording {
  readonly file: string;
  /** Resolves when the media server has said that the file is complete, for whatever reason. */
  readonly completed: Promise<RecordingEnd>;
  readonly #endpoint: MediaEndpoint;

  private constructor(endpoint: MediaEndpoint, file: string, completed: Promise<RecordingEnd>) {
    this.#endpoint = endpoint;
    this.file = file;
    this.completed = completed;
  }

  /** @throws MediaError when the media server cannot write there; EndpointGone */
  static async start(
    endpoint: MediaEndpoint,
    { file, party, paused = false }: ChannelRecordingOptions,
  ): Promise<ChannelRecording> {
    const completed = endpoint.server.recordings.completed(file);
    try {
      const settings = [
        `RECORD_STEREO=${party === 'left'}`,
        `RECORD_STEREO_SWAP=${party === 'right'}`,
        `RECORD_READ_ONLY=${party === 'alone'}`,
        // Without it FreeSWITCH throws away whatever is short.
        'RECORD_MIN_SEC=0',
        'RECORD_APPEND=false',
        `RECORD_PRE_BUFFER_FRAMES=${PRE_BUFFER_FRAMES}`,
      ].join(';');
      // All at once: nobody else's recording of the channel comes between, and no sound before the pause.
      await Promise.all([
        endpoint.command('uuid_setvar_multi', settings),
        endpoint.command('uuid_record', `start ${quoted(file)}`),
        ...(paused ? [endpoint.command('uuid_record', `mask ${quoted(file)}`)] : []),
      ]);
    } catch (error) {
      endpoint.server.recordings.forget(file);
      throw error;
    }
    return new ChannelRecording(endpoint, file, completed);
  }

  /** Silence is written from now on. */
  async pause(): Promise<void> {
    await this.#endpoint.command('uuid_record', `mask ${quoted(this.file)}`);
  }

  async resume(): Promise<void> {
    await this.#endpoint.command('uuid_record', `unmask ${quoted(this.file)}`);
  }

  /** Ends it. Settles when the file is complete, as far as the media server tells; never rejects. */
  async stop(): Promise<RecordingEnd> {
    try {
      await this.#endpoint.command('uuid_record', `stop ${quoted(this.file)}`);
    } catch (error) {
      // The channel has ended, and with it the recording.
      if (!(error instanceof MediaError)) throw error;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<RecordingEnd>((resolve) => {
      timer = setTimeout(resolve, COMPLETE_MS, 'whole');
    });
    const end = await Promise.race([this.completed, late]);
    clearTimeout(timer);
    this.#endpoint.server.recordings.forget(this.file);
    return end;
  }
}
