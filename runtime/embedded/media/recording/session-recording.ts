/** Recordings of a channel beside its application. */
import { frameSamples, silentFrame } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { WavWriter } from '../audio/wav-writer.ts';
import type { Channel } from '../channel/channel.ts';
import type { MediaTap } from '../channel/tap.ts';
import { HeardAudio } from '../channel/heard-audio.ts';
import { isTrueText } from '../channel/variable.ts';
import { recordingPath } from './paths.ts';

/** The recorded directions of a channel, and their layout. */
interface RecordRules {
  /** Left: what the channel says. Right: what it hears. */
  readonly stereo: boolean;
  /** Swaps left and right. */
  readonly swapped: boolean;
  readonly readOnly: boolean;
  readonly writeOnly: boolean;
}

/** Records both directions of a channel beside its application: `record_session`, `uuid_record`. */
export class SessionRecording implements MediaTap {
  /** The name as the client gave it, which `stop` and `mask` refer to. */
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
  readonly #mixed: Int16Array;
  #masked = false;
  #paused = false;
  #stopped: Promise<void> | undefined;

  private constructor(channel: Channel, name: string, writer: WavWriter, limitSeconds: number, rules: RecordRules) {
    this.#channel = channel;
    this.name = name;
    this.#writer = writer;
    this.#stereo = rules.stereo;
    this.#swapped = rules.swapped;
    this.#readOnly = rules.readOnly;
    this.#writeOnly = rules.writeOnly;
    this.#mixed = new Int16Array(frameSamples(writer.rate));
    this.#limitSamples = limitSeconds > 0 ? limitSeconds * writer.rate : Number.POSITIVE_INFINITY;
    this.#heard = new HeardAudio(channel);
    this.#release = channel.audio.listen();
  }

  /**
   * Starts a recording. The variables RECORD_STEREO, RECORD_STEREO_SWAP, RECORD_READ_ONLY and RECORD_WRITE_ONLY choose
   * the directions; RECORD_APPEND appends to the file. Does nothing for a file that the channel already records to.
   *
   * @param limitSeconds longest duration in seconds; 0 for no limit
   * @param given values that replace the channel's variables
   * @throws the system's error when the file cannot be created
   */
  static async start(
    channel: Channel,
    name: string,
    limitSeconds: number,
    given: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    if (SessionRecording.of(channel).some((each) => each.name === name)) return;
    const isSet = (variable: string): boolean => isTrueText(given.get(variable) ?? channel.get(variable) ?? '');
    const rules = {
      stereo: isSet('RECORD_STEREO') || isSet('RECORD_STEREO_SWAP'),
      swapped: isSet('RECORD_STEREO_SWAP'),
      readOnly: isSet('RECORD_READ_ONLY'),
      writeOnly: isSet('RECORD_WRITE_ONLY'),
    };
    const path = recordingPath(channel.core.recordings, name);
    const writer = await WavWriter.open(path, rules.stereo ? 2 : 1, isSet('RECORD_APPEND'), channel.audio.rate);
    const recording = new SessionRecording(channel, name, writer, limitSeconds, rules);
    if (channel.ended) await recording.stop();
    else {
      channel.taps.add(recording);
      channel.publish('RECORD_START', { last: { 'Record-File-Path': name } });
    }
  }

  /** The running recordings of a channel. */
  static of(channel: Channel): SessionRecording[] {
    return [...channel.taps].filter((tap): tap is SessionRecording => tap instanceof SessionRecording);
  }

  /** Masks or unmasks the recording; while masked, it records silence. */
  mask(masked: boolean): void {
    this.#masked = masked;
  }

  /** Pauses or resumes the recording; while paused, it does not grow. */
  pause(paused: boolean): void {
    this.#paused = paused;
  }

  tick(): void {
    if (this.#paused) return;
    const { rate } = this.#writer;
    const silence = silentFrame(rate);
    const read = this.#writeOnly ? undefined : this.#channel.audio.read(rate);
    const heard = this.#readOnly ? undefined : this.#heard.frame(rate);
    if (this.#masked) this.#writer.append(silence, silence);
    else if (this.#swapped) this.#writer.append(heard ?? silence, read ?? silence);
    else if (this.#stereo) this.#writer.append(read ?? silence, heard ?? silence);
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

  /** Ends the recording. Resolves when the file is complete and the channel's variables describe it. */
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
    channel.set('record_seconds', String(Math.floor(completion.samples / this.#writer.rate)));
    channel.set('record_ms', String(Math.floor((completion.samples * 1000) / this.#writer.rate)));
    channel.set('record_completion_cause', completion.cause);
    channel.publish('RECORD_STOP', {
      last: { 'Record-File-Path': this.name, 'Record-Completion-Cause': completion.cause },
    });
  }
}
