/** Prompts a party and recognises the spoken answer. */
import { type MediaEndpoint, playSources, tapEndpoint, untilAborted } from '../media/index.ts';
import { SPEECH_RATE, SpeechError, type SpeechStream } from './engine.ts';
import type { SpeechService } from './service.ts';
import { SpeechDetector } from './utterances.ts';

export interface RecogniseOptions {
  readonly signal: AbortSignal;
  /** Prompts as media server sources, played first. */
  readonly prompt: readonly string[];
  /** True: speech interrupts the prompt; false: speech during the prompt is ignored. */
  readonly bargeIn: boolean;
  /** Milliseconds after the prompt in which speech has to begin. */
  readonly timeoutMs: number;
  /** Milliseconds of silence that end the answer. */
  readonly silenceMs: number;
  /** Largest duration of speech in milliseconds. */
  readonly maxMs: number;
  readonly language: string | undefined;
  readonly hints: readonly string[];
}

export interface Recognised {
  /** The recognised text; empty for `silence` and `failed`. */
  readonly text: string;
  /** `silence`: nobody spoke. `failed`: speech was not recognised. */
  readonly outcome: 'heard' | 'silence' | 'failed';
  /** Duration of speech in milliseconds. */
  readonly milliseconds: number;
}

/** Sound before the first loud moment that belongs to the speech. */
const LEAD_SAMPLES = (SPEECH_RATE * 3) / 10;
/** Milliseconds for the engine after the last word. */
const THINKING_MS = 10_000;

/**
 * Plays a prompt and recognises the spoken answer.
 * @throws SpeechError; the signal's reason; MediaError; EndpointGone
 */
export async function recogniseSpeech(
  service: SpeechService,
  endpoint: MediaEndpoint,
  options: RecogniseOptions,
): Promise<Recognised> {
  const listening = new Listening(options);
  const stream = await service.open({
    hints: options.hints,
    ...(options.language === undefined ? {} : { language: options.language }),
    onResult: ({ text, final }) => {
      if (final) listening.texts.push(text);
    },
    onFailure: (error) => listening.fail(error),
  });
  listening.engine = stream;
  const stop = AbortSignal.any([options.signal, endpoint.gone]);
  try {
    const tap = await tapEndpoint(endpoint, (samples) => listening.hear(samples));
    try {
      await ask(endpoint, options, listening);
      const spoke = await untilAborted(listening.answered, stop);
      return await understood(stream, listening, spoke, stop);
    } finally {
      await tap.close();
    }
  } finally {
    listening.close();
    stream.close();
  }
}

/**
 * Plays the prompt to its end. Speech pauses it, and the end of speech breaks it off: when an application ends, FreeSWITCH drops up to
 * 250 ms of received sound.
 */
async function ask(endpoint: MediaEndpoint, options: RecogniseOptions, listening: Listening): Promise<void> {
  const { signal, prompt, bargeIn } = options;
  if (bargeIn) listening.open();
  if (prompt.length > 0) {
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort(new DOMException('interrupted by speech', 'AbortError'));
    listening.onSpeech = () => {
      listening.answered.then(interrupt, interrupt);
      // Refused where no file plays, such as for a spoken text.
      endpoint.command('uuid_fileman', 'pause').catch(interrupt);
    };
    try {
      const both = AbortSignal.any([signal, interrupted.signal]);
      await playSources(endpoint, prompt, { signal: both, stopDigits: '', repeat: 1 });
    } catch (error) {
      if (!interrupted.signal.aborted || signal.aborted) throw error;
    } finally {
      listening.onSpeech = () => undefined;
    }
  }
  listening.open();
  listening.expect();
}

async function understood(
  stream: SpeechStream,
  { texts, milliseconds }: Listening,
  spoke: boolean,
  stop: AbortSignal,
): Promise<Recognised> {
  if (!spoke) return { text: '', outcome: 'silence', milliseconds: 0 };
  const spoken = milliseconds();
  await untilAborted(stream.finish(), AbortSignal.any([stop, thinkingTime()]));
  const text = texts.join(' ');
  return { text, outcome: text === '' ? 'failed' : 'heard', milliseconds: spoken };
}

function thinkingTime(): AbortSignal {
  const control = new AbortController();
  const late = new SpeechError('failed', 'the speech server did not answer in time');
  setTimeout(() => control.abort(late), THINKING_MS).unref();
  return control.signal;
}

/** Waits for one utterance: from the first loud moment to the silence after it. */
class Listening {
  readonly texts: string[] = [];
  /** True after speech, false after silence. */
  readonly answered: Promise<boolean>;
  engine: SpeechStream | undefined;
  onSpeech: () => void = () => undefined;
  readonly #options: RecogniseOptions;
  readonly #answer = Promise.withResolvers<boolean>();
  readonly #detector: SpeechDetector;
  #lead: Int16Array[] = [];
  #leadSamples = 0;
  #state: 'deaf' | 'waiting' | 'speaking' | 'over' = 'deaf';
  #samples = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RecogniseOptions) {
    this.#options = options;
    this.#detector = new SpeechDetector(options.silenceMs);
    this.answered = this.#answer.promise;
    this.answered.catch(() => undefined);
  }

  /** Milliseconds of speech so far. */
  readonly milliseconds = (): number => Math.round(this.#samples / (SPEECH_RATE / 1000));

  /** Starts detection. */
  open(): void {
    if (this.#state === 'deaf') this.#state = 'waiting';
  }

  /** Starts the time in which speech has to begin. */
  expect(): void {
    if (this.#state === 'waiting') this.#timer = setTimeout(() => this.#end(false), this.#options.timeoutMs);
  }

  hear(samples: Int16Array): void {
    const changes = this.#detector.hear(samples);
    if (this.#state === 'waiting') {
      this.#keepLead(samples);
      if (changes.includes('begun') || this.#detector.speaking) this.#begin();
      return;
    }
    if (this.#state !== 'speaking') return;
    this.engine?.write(samples);
    this.#samples += samples.length;
    if (changes.includes('ended')) this.#end(true);
  }

  fail(error: SpeechError): void {
    this.#state = 'over';
    this.#answer.reject(error);
  }

  close(): void {
    this.#state = 'over';
    clearTimeout(this.#timer);
  }

  #keepLead(samples: Int16Array): void {
    this.#lead.push(samples);
    this.#leadSamples += samples.length;
    while (this.#leadSamples - (this.#lead[0]?.length ?? 0) > LEAD_SAMPLES)
      this.#leadSamples -= this.#lead.shift()?.length ?? 0;
  }

  #begin(): void {
    this.#state = 'speaking';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(true), this.#options.maxMs);
    for (const samples of this.#lead) this.engine?.write(samples);
    this.#samples = this.#leadSamples;
    this.onSpeech();
  }

  #end(spoke: boolean): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    this.#answer.resolve(spoke);
  }
}
