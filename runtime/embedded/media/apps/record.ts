/** The applications that record. */
import { energy } from '../audio/mix.ts';
import { FRAME_MS, silentFrame } from '../audio/format.ts';
import { type RecordingSize, WavWriter } from '../audio/wav-writer.ts';
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { isTrue } from '../channel/variable.ts';
import { recordingPath } from '../recording/paths.ts';
import { SessionRecording } from '../recording/session-recording.ts';
import { isTerminator } from './terminators.ts';

/** Arguments of `record`: `<file> [<seconds> [<energy> [<seconds of silence>]]]`. */
interface RecordRules {
  readonly file: string;
  readonly limitSeconds: number;
  readonly silenceEnergy: number;
  readonly silenceSeconds: number;
}

function parseRecord(data: string): RecordRules | undefined {
  // Quotes keep the spaces of a path together.
  const match = /^\s*(?:'([^']+)'|(\S+))((?:\s+\d{1,6}){0,3})\s*$/.exec(data);
  if (match === null) return undefined;
  const [, quoted, plain = '', numbers = ''] = match;
  const [limitSeconds = 0, silenceEnergy = 0, silenceSeconds = 0] = numbers.trim().split(/\s+/).map(Number);
  return { file: quoted ?? plain, limitSeconds, silenceEnergy, silenceSeconds };
}

/** Up to this many missing frames count as jitter and are not filled, because late audio still comes. */
const JITTER_FRAMES = 10;

const epochSeconds = (): number => Math.floor(Date.now() / 1000);

/**
 * `record`: records the far end until the limit, enough silence, a terminator digit or `uuid_break`. As in FreeSWITCH:
 * - Time without audio (during digits, or from a phone with silence suppression) counts as silence. It becomes part of
 *   the recording only with the variable `record_fill_cng`.
 * - The limit counts started seconds of the clock, also while another application runs: a limit of 2 ends after 2 to
 *   3 s.
 */
class Record implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  readonly #rules: RecordRules;
  readonly #release: () => void;
  #writer: WavWriter | undefined;
  #state: 'opening' | 'recording' | 'closing' | 'done' = 'opening';
  readonly #startedAt = epochSeconds();
  /** Missing frames since the last received one. */
  #missingFrames = 0;
  readonly #fillsGaps: boolean;
  #silentFrames = 0;
  #silenceExhausted = false;

  constructor(channel: Channel, rules: RecordRules) {
    this.#channel = channel;
    this.#rules = rules;
    this.#fillsGaps = isSet(channel.get('record_fill_cng'));
    this.#release = channel.audio.listen();
    channel.readsLinear = true;
    channel.variables.delete('playback_terminator_used');
    this.#open(rules.file).then(
      (writer) => {
        this.#writer = writer;
        if (this.#state === 'opening') this.#state = 'recording';
        else this.#close();
      },
      () => {
        this.#state = 'done';
        // As FreeSWITCH does.
        channel.hangup('DESTINATION_OUT_OF_ORDER', 'application');
      },
    );
  }

  async #open(name: string): Promise<WavWriter> {
    return WavWriter.open(
      recordingPath(this.#channel.core.recordings, name),
      1,
      isTrue(this.#channel, 'RECORD_APPEND'),
      this.#channel.audio.rate,
    );
  }

  tick(): boolean {
    this.#channel.audio.writeSilence();
    if (this.#state === 'recording') this.#record();
    return this.#state === 'done';
  }

  digit(digit: string): void {
    if (this.#state !== 'recording' || !isTerminator(this.#channel, digit)) return;
    this.#channel.set('playback_terminator_used', digit);
    this.#close();
  }

  break(): void {
    this.#close();
  }

  end(): void {
    this.#release();
    this.#channel.readsLinear = false;
    this.#close();
    // The far end has hung up: these variables are the last that the controlling client gets about the recording.
    if (this.#state === 'closing') this.#describe(this.#writer?.size ?? { bytes: 0, samples: 0 });
  }

  #record(): void {
    const frame = this.#channel.audio.read(this.#writer?.rate);
    if (frame === undefined) this.#miss();
    else {
      this.#missingFrames = 0;
      this.#writer?.append(frame);
    }
    this.#measureSilence(frame);
    const { limitSeconds } = this.#rules;
    if (limitSeconds > 0 && epochSeconds() - this.#startedAt > limitSeconds) this.#close();
  }

  #miss(): void {
    if (!this.#fillsGaps) return;
    this.#missingFrames += 1;
    if (this.#missingFrames < JITTER_FRAMES) return;
    const writer = this.#writer;
    const owed = this.#missingFrames === JITTER_FRAMES ? JITTER_FRAMES : 1;
    // Written in place of missing frames.
    for (let frame = 0; frame < owed; frame += 1) writer?.append(silentFrame(writer.rate));
  }

  #measureSilence(frame: Int16Array | undefined): void {
    const { silenceEnergy, silenceSeconds } = this.#rules;
    if (silenceEnergy === 0 || silenceSeconds === 0) return;
    this.#silentFrames = frame === undefined || energy(frame) < silenceEnergy ? this.#silentFrames + 1 : 0;
    if (this.#silentFrames * FRAME_MS < silenceSeconds * 1000) return;
    this.#silenceExhausted = true;
    this.#close();
  }

  #close(): void {
    if (this.#state === 'closing' || this.#state === 'done') return;
    const writer = this.#writer;
    this.#state = 'closing';
    if (writer === undefined) return; // not open yet; closed as soon as it is
    writer.close().then(
      (size) => this.#tell(size),
      () => this.#tell({ bytes: 0, samples: writer.samples }),
    );
  }

  #tell(size: RecordingSize): void {
    this.#describe(size);
    this.#state = 'done';
  }

  #describe({ bytes, samples }: RecordingSize): void {
    const channel = this.#channel;
    const rate = this.#writer?.rate ?? channel.audio.rate;
    channel.set('silence_hits_exhausted', String(this.#silenceExhausted));
    channel.set('record_record_file_size', String(bytes));
    channel.set('record_file_size', String(bytes));
    channel.set('record_seconds', String(Math.floor(samples / rate)));
    channel.set('record_ms', String(Math.floor((samples * 1000) / rate)));
    channel.set('record_samples', String(samples));
  }
}

export const record: ApplicationStart = (channel, data) => {
  const rules = parseRecord(data);
  return rules === undefined ? NO_RESPONSE : new Record(channel, rules);
};

/** Whether `record_fill_cng` is set: to `true`, or to a noise level other than 0. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && (value.toLowerCase() === 'true' || Number.parseInt(value, 10) > 0);
}

/** An application that runs until a promise settles. */
class Waiting implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly #channel: Channel;
  #done = false;

  constructor(channel: Channel, work: Promise<unknown>) {
    this.#channel = channel;
    const finished = (): void => {
      this.#done = true;
    };
    work.then(finished, finished);
  }

  tick(): boolean {
    this.#channel.audio.writeSilence();
    return this.#done;
  }
}

/** `record_session <file> [+<seconds>]`. */
export const recordSession: ApplicationStart = (channel, data) => {
  const [file, limit = '0'] = data.trim().split(/\s+/);
  if (file === undefined || file === '') return NO_RESPONSE;
  return new Waiting(channel, SessionRecording.start(channel, file, Number(limit.replace('+', '')) || 0));
};

/** `stop_record_session <file>|all`. */
export const stopRecordSession: ApplicationStart = (channel, data) => {
  const name = data.trim();
  const recordings = SessionRecording.of(channel).filter((each) => name === 'all' || each.name === name);
  return recordings.length === 0
    ? NO_RESPONSE
    : new Waiting(channel, Promise.all(recordings.map((each) => each.stop())));
};

/** `record_session_mask <file>` and `record_session_unmask <file>`. */
export function recordSessionMask(masked: boolean): ApplicationStart {
  return (channel, data) => {
    for (const each of SessionRecording.of(channel)) if (each.name === data.trim()) each.mask(masked);
    return NO_RESPONSE;
  };
}
