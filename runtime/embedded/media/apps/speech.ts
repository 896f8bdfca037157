/** The applications `speak` and `say`, and `playback` of a text. */
import { ClipSource } from '../audio/source.ts';
import { frameSamples } from '../audio/format.ts';
import { synthesize } from '../audio/speech.ts';
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { isTerminator } from './terminators.ts';

/** Kinds of `say` whose text is read character by character. */
const SPELLED = new Set([
  'NAME_SPELLED',
  'NAME_PHONETIC',
  'TELEPHONE_NUMBER',
  'TELEPHONE_EXTENSION',
  'ACCOUNT_NUMBER',
  'IP_ADDRESS',
]);

/** What a channel is told at the end of a speech. */
interface SpeechAnswers {
  readonly spoken: string;
  readonly failed: string;
}

const SILENT: SpeechAnswers = { spoken: NO_RESPONSE, failed: NO_RESPONSE };
const PLAYBACK: SpeechAnswers = { spoken: 'FILE PLAYED', failed: 'PLAYBACK ERROR' };

/** The engine that this server has, by the name that FreeSWITCH's modules for it use. */
const ENGINE = 'espeak';

/** Speaks a text. Without a synthesizer it completes at once, like FreeSWITCH without an engine. */
class Speech implements RunningApplication {
  readonly #channel: Channel;
  readonly #answers: SpeechAnswers;
  readonly #abort = new AbortController();
  readonly #frame: Int16Array;
  #source: ClipSource | undefined;
  #done = false;
  #failed = false;

  constructor(channel: Channel, voice: string, text: string, answers: SpeechAnswers = SILENT) {
    this.#channel = channel;
    this.#answers = answers;
    const { rate } = channel.audio;
    this.#frame = new Int16Array(frameSamples(rate));
    void synthesize(channel.core.run, voice, text, rate, this.#abort.signal).then((samples) => {
      if (samples === undefined) this.#failed = this.#done = true;
      else this.#source = new ClipSource(samples, 0, rate);
    });
  }

  get response(): string {
    return this.#failed ? this.#answers.failed : this.#answers.spoken;
  }

  tick(): boolean {
    if (this.#done) return true;
    const count = this.#source?.read(this.#frame) ?? 0;
    if (count === 0) this.#channel.audio.writeSilence();
    else {
      this.#frame.fill(0, count);
      this.#channel.audio.write(this.#frame);
    }
    return this.#source?.exhausted === true;
  }

  digit(digit: string): void {
    if (!isTerminator(this.#channel, digit)) return;
    this.#channel.set('playback_terminator_used', digit);
    this.#done = true;
  }

  break(): void {
    this.#done = true;
  }

  end(): void {
    this.#abort.abort();
  }
}

/** `speak <engine>|<voice>|<text>`; the engine is always espeak-ng. */
export const speak: ApplicationStart = (channel, data) => {
  const [, voice = '', ...text] = data.split('|');
  return text.length === 0 ? NO_RESPONSE : new Speech(channel, voice, text.join('|'));
};

/** `playback say:<text>`: speaks by the variables `tts_engine` and `tts_voice`. */
export function spokenPlayback(channel: Channel, text: string): RunningApplication | string {
  const voice = channel.get('tts_voice') ?? '';
  return channel.get('tts_engine') === ENGINE ? new Speech(channel, voice, text, PLAYBACK) : PLAYBACK.failed;
}

/** `say <language> <type> <method> [<gender>] <text>`. */
export const say: ApplicationStart = (channel, data) => {
  const match = /^(\S+)\s+(\S+)\s+(\S+)\s+(?:(?:FEMININE|MASCULINE|NEUTER)\s+)?(\S[\s\S]*)$/.exec(data.trim());
  if (match === null) return NO_RESPONSE;
  const [, language, type, method, text] = match as unknown as [string, string, string, string, string];
  const spelled = method === 'iterated' || SPELLED.has(type.toUpperCase());
  return new Speech(channel, language, spelled ? Array.from(text).join(' ') : text);
};
