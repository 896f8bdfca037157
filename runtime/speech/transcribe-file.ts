/** Transcribes WAV files. */
import { readWavShape, wavSamples } from '../media/index.ts';
import { Resampler } from '../samples/index.ts';
import { SPEECH_RATE, SpeechError } from './engine.ts';
import type { SpeechService } from './service.ts';

export interface TranscribedChannel {
  /** Channel number; 0 is left. */
  readonly channel: number;
  readonly text: string;
}

export interface TranscribeFileOptions {
  readonly language?: string;
  readonly hints?: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * The text of a WAV file, channel by channel, one stream at a time.
 * @throws SpeechError; WavFormatError; the signal's reason; errors of the file system
 */
export async function transcribeFile(
  service: SpeechService,
  file: string,
  options: TranscribeFileOptions,
): Promise<readonly TranscribedChannel[]> {
  const { channels, rate } = await readWavShape(file);
  const result: TranscribedChannel[] = [];
  for (let channel = 0; channel < channels; channel += 1) {
    result.push({ channel, text: await transcribeChannel(service, file, channel, rate, options) });
  }
  return result;
}

/** After a server's failure, tries the next. */
async function transcribeChannel(
  service: SpeechService,
  file: string,
  channel: number,
  rate: number,
  options: TranscribeFileOptions,
): Promise<string> {
  const tried = new Set<object>();
  let failure: SpeechError | undefined;
  for (;;) {
    const before = tried.size;
    try {
      return await transcribeOnce(service, { file, channel, rate, tried }, options);
    } catch (error) {
      if (!(error instanceof SpeechError)) throw error;
      if (tried.size === before) throw failure ?? error;
      failure = error;
    }
  }
}

async function transcribeOnce(
  service: SpeechService,
  { file, channel, rate, tried }: { file: string; channel: number; rate: number; tried: Set<object> },
  { language, hints = [], signal }: TranscribeFileOptions,
): Promise<string> {
  const texts: string[] = [];
  let failure: SpeechError | undefined;
  const stream = await service.open({
    whole: true,
    hints,
    tried,
    ...(language === undefined ? {} : { language }),
    onResult: ({ text, final }) => {
      if (final) texts.push(text);
    },
    onFailure: (error) => {
      failure = error;
    },
  });
  const leave = (): void => stream.close();
  signal.addEventListener('abort', leave, { once: true });
  const resampler = rate === SPEECH_RATE ? undefined : new Resampler(rate, SPEECH_RATE);
  try {
    for await (const samples of wavSamples(file, channel)) {
      signal.throwIfAborted();
      if (failure !== undefined) throw failure;
      stream.write(resampler === undefined ? samples : rounded(resampler.push(Float32Array.from(samples))));
      await stream.drained();
    }
    if (resampler !== undefined) stream.write(rounded(resampler.flush()));
    await stream.finish();
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    return texts.join(' ');
  } finally {
    signal.removeEventListener('abort', leave);
    stream.close();
  }
}

function rounded(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))));
}
