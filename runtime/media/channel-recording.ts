/** Records a channel of the media server. */
import type { MediaEndpoint } from './endpoint.ts';
import { MediaError } from './media-error.ts';
import type { RecordingEnd } from './recording-notices.ts';
import { quoted } from './quoted.ts';

/** Milliseconds to wait for the notice of a complete file after the stop or the end of the channel. */
const COMPLETE_MS = 5000;
/**
 * Frames of 20 ms that FreeSWITCH buffers to keep both directions in step; half a second as shipped. A shorter
 * recording writes nothing.
 */
const PRE_BUFFER_FRAMES = 5;

export interface ChannelRecordingOptions {
  /** WAV file, absolute; its folder exists. */
  readonly file: string;
  /**
   * `left`, `right`: channel of the party, with its received sound on the other; or the party alone, on one channel.
   */
  readonly party: 'left' | 'right' | 'alone';
  /** Writes silence until `resume`. */
  readonly paused?: boolean;
}

/**
 * A recording of a channel, of both directions or of its party only. It continues through holds, bridges and transfers,
 * until it is stopped or the channel ends.
 */
export class ChannelRecording {
  readonly file: string;
  /** Resolves when the media server reports a complete file, for any reason. */
  readonly completed: Promise<RecordingEnd>;
  readonly #endpoint: MediaEndpoint;

  private constructor(endpoint: MediaEndpoint, file: string, completed: Promise<RecordingEnd>) {
    this.#endpoint = endpoint;
    this.file = file;
    this.completed = completed;
  }

  /** @throws MediaError when the media server cannot write the file; EndpointGone */
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
        // By default FreeSWITCH discards short recordings.
        'RECORD_MIN_SEC=0',
        'RECORD_APPEND=false',
        `RECORD_PRE_BUFFER_FRAMES=${PRE_BUFFER_FRAMES}`,
      ].join(';');
      // All at once, so that neither another recording of the channel nor sound before the pause intervenes.
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

  /** Writes silence from now on. */
  async pause(): Promise<void> {
    await this.#endpoint.command('uuid_record', `mask ${quoted(this.file)}`);
  }

  async resume(): Promise<void> {
    await this.#endpoint.command('uuid_record', `unmask ${quoted(this.file)}`);
  }

  /** Ends the recording. Settles when the media server reports a complete file, or after a limit; never rejects. */
  async stop(): Promise<RecordingEnd> {
    try {
      await this.#endpoint.command('uuid_record', `stop ${quoted(this.file)}`);
    } catch (error) {
      // The channel has ended, and the recording with it.
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
