import { FRAME_SAMPLES, SAMPLE_RATE } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { WavWriter } from '../audio/wav-writer.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaTap } from '../channel/tap.ts';
import { HeardAudio } from '../channel/heard-audio.ts';
import { recordingPath } from './paths.ts';

const SILENCE = new Int16Array(FRAME_SAMPLES);

/** Records both directions of a channel beside its application: `record_session`, `uuid_record`. */
export class SessionRecording implements MediaTap {
  /** As given by the client: what `stop` and `mask` name. */
  readonly name: string;
  readonly #channel: Channel;
  readonly #writer: WavWriter;
  readonly #heard: HeardAudio;
  readonly #release: () => void;
  readonly #stereo: boolean;
  readonly #swapped: boolean;
  readonly #readOnly: boolean;
  readonly #writeOnly: boolean;
  readonly #limitSamples: number;
  readonly #mixed = new Int16Array(FRAME_SAMPLES);
  #masked = false;
  #stopped: Promise<void> | undefined;

  private constructor(channel: Channel, name: string, writer: WavWriter, limitSeconds: number, stereo: boolean) {
    this.#channel = channel;
    this.name = name;
    this.#writer = writer;
    this.#stereo = stereo;
    this.#swapped = isSet(channel, 'RECORD_STEREO_SWAP');
    this.#readOnly = isSet(channel, 'RECORD_READ_ONLY');
    this.#writeOnly = isSet(channel, 'RECORD_WRITE_ONLY');
    this.#limitSamples = limitSeconds > 0 ? limitSeconds * SAMPLE_RATE : Number.POSITIVE_INFINITY;
    this.#heard = new HeardAudio(channel);
    this.#release = channel.audio.listen();
  }

  /**
   * Starts recording; the channel's variables RECORD_STEREO, RECORD_STEREO_SWAP, RECORD_READ_ONLY and
   * RECORD_WRITE_ONLY say what.
   *
   * @param limitSeconds 0 for none
   * @throws the system's error when the file cannot be created
   */
  static async start(channel: Channel, name: string, limitSeconds: number): Promise<SessionRecording> {
    const stereo = isSet(channel, 'RECORD_STEREO') || isSet(channel, 'RECORD_STEREO_SWAP');
    const writer = await WavWriter.open(recordingPath(channel.core, name), stereo ? 2 : 1);
    const recording = new SessionRecording(channel, name, writer, limitSeconds, stereo);
    if (channel.ended) await recording.stop();
    else {
      channel.taps.add(recording);
      channel.publish('RECORD_START', { last: { 'Record-File-Path': name } });
    }
    return recording;
  }

  /** The recordings going on on a channel. */
  static of(channel: Channel): SessionRecording[] {
    return [...channel.taps].filter((tap): tap is SessionRecording => tap instanceof SessionRecording);
  }

  /** While masked, silence is recorded. */
  mask(masked: boolean): void {
    this.#masked = masked;
  }

  tick(): void {
    const read = this.#writeOnly ? undefined : this.#channel.audio.read();
    const heard = this.#readOnly ? undefined : this.#heard.frame();
    if (this.#masked) this.#writer.append(SILENCE, SILENCE);
    else if (this.#swapped) this.#writer.append(heard ?? SILENCE, read ?? SILENCE);
    else if (this.#stereo) this.#writer.append(read ?? SILENCE, heard ?? SILENCE);
    else {
      this.#mixed.fill(0);
      if (read !== undefined) mixInto(this.#mixed, read);
      if (heard !== undefined) mixInto(this.#mixed, heard);
      this.#writer.append(this.#mixed);
    }
    if (this.#writer.samples >= this.#limitSamples) void this.stop();
  }

  end(): void {
    void this.stop();
  }

  /** Ends the recording. Resolves when the file is complete, and the channel's variables tell about it. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const channel = this.#channel;
    channel.taps.delete(this);
    this.#heard.release();
    this.#release();
    const completion = await this.#writer.close().then(
      ({ bytes, samples }) => ({ bytes, samples, cause: 'success-maxtime' }),
      () => ({ bytes: 0, samples: this.#writer.samples, cause: 'uri-failure' }),
    );
    channel.set('record_file_size', String(completion.bytes));
    channel.set('record_samples', String(completion.samples));
    channel.set('record_seconds', String(Math.floor(completion.samples / SAMPLE_RATE)));
    channel.set('record_ms', String(Math.floor((completion.samples * 1000) / SAMPLE_RATE)));
    channel.set('record_completion_cause', completion.cause);
    channel.publish('RECORD_STOP', {
      last: { 'Record-File-Path': this.name, 'Record-Completion-Cause': completion.cause },
    });
  }
}

function isSet(channel: Channel, name: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(channel.get(name) ?? '');
}
