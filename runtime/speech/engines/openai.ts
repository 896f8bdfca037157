/** Speech engine: HTTP servers with OpenAI's transcription API. */
import { wavOf } from '../../media/index.ts';
import { SPEECH_RATE, type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from '../engine.ts';
import { SpeechDetector } from '../utterances.ts';

/** Milliseconds of silence that end an utterance, which is then sent. */
const UTTERANCE_SILENCE_MS = 700;
/** Sound before the first loud moment that belongs to the utterance. */
const LEAD_SAMPLES = SPEECH_RATE / 4;
/** Longest piece in samples (10 minutes, about 10 MB): longer speech and files are divided. */
const LIVE_SAMPLES = SPEECH_RATE * 30;
const WHOLE_SAMPLES = SPEECH_RATE * 600;
const REQUEST_MS = 120_000;
/** Largest answer in octets: ten minutes of quick speech are some 20 kB. */
const MAX_ANSWER_BYTES = 1_048_576;

export interface OpenAiServer {
  /** URL before `/audio/transcriptions`, e.g. `https://host/v1`. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

/**
 * OpenAI's transcription API, offered by many engines: `POST /audio/transcriptions`, multipart, a WAV file. Live sound
 * is cut into utterances at silences; all results are final.
 */
export class OpenAi implements SpeechEngine {
  readonly #server: OpenAiServer;

  constructor(server: OpenAiServer) {
    this.#server = server;
  }

  open(options: SpeechStreamOptions): Promise<SpeechStream> {
    return Promise.resolve(new OpenAiStream(this.#server, options));
  }
}

class OpenAiStream implements SpeechStream {
  readonly #server: OpenAiServer;
  readonly #options: SpeechStreamOptions;
  readonly #detector = new SpeechDetector(UTTERANCE_SILENCE_MS);
  readonly #aborting = new AbortController();
  #sound: Int16Array[] = [];
  #samples = 0;
  #heardSpeech = false;
  #backlog = 0;
  #requests: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(server: OpenAiServer, options: SpeechStreamOptions) {
    this.#server = server;
    this.#options = options;
  }

  get backlogMs(): number {
    return this.#backlog / (SPEECH_RATE / 1000);
  }

  write(samples: Int16Array): void {
    if (this.#closed) return;
    this.#sound.push(samples);
    this.#samples += samples.length;
    const changes = this.#detector.hear(samples);
    if (changes.includes('begun')) this.#heardSpeech = true;
    if (this.#options.whole) {
      if (this.#samples >= WHOLE_SAMPLES) this.#send();
    } else if (changes.includes('ended') || (this.#heardSpeech && this.#samples >= LIVE_SAMPLES)) {
      this.#send();
    } else if (!this.#heardSpeech) {
      this.#forget();
    }
  }

  async drained(): Promise<void> {
    if (this.#backlog > WHOLE_SAMPLES) await this.#requests;
  }

  async finish(): Promise<void> {
    if (!this.#closed) this.#send();
    await this.#requests;
    this.#closed = true;
  }

  close(): void {
    this.#closed = true;
    this.#aborting.abort();
  }

  /** Keeps only the end of the silence before an utterance. */
  #forget(): void {
    while (this.#sound.length > 1 && this.#samples - (this.#sound[0] as Int16Array).length > LEAD_SAMPLES) {
      this.#samples -= (this.#sound.shift() as Int16Array).length;
    }
  }

  /** Sends an utterance; silence is not sent. */
  #send(): void {
    const samples = joined(this.#sound, this.#samples);
    const worth = this.#heardSpeech;
    this.#sound = [];
    this.#samples = 0;
    this.#heardSpeech = this.#detector.speaking;
    if (!worth) return;
    this.#backlog += samples.length;
    this.#requests = this.#requests.then(async () => {
      if (!this.#closed || !this.#aborting.signal.aborted) await this.#recognise(samples);
      this.#backlog -= samples.length;
    });
  }

  /** Never rejects. */
  async #recognise(samples: Int16Array): Promise<void> {
    try {
      const text = (await this.#request(samples)).trim();
      if (text !== '' && !this.#aborting.signal.aborted) this.#options.onResult({ text, final: true });
    } catch (error) {
      if (this.#aborting.signal.aborted) return;
      this.close();
      const { message } = error as Error;
      this.#options.onFailure(
        new SpeechError('failed', `the speech server ${this.#server.url} failed: ${message}`, { cause: error }),
      );
    }
  }

  async #request(samples: Int16Array): Promise<string> {
    const { url, apiKey, model } = this.#server;
    const { language, hints } = this.#options;
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(wavOf(samples, SPEECH_RATE))], { type: 'audio/wav' }), 'speech.wav');
    form.set('model', model);
    form.set('response_format', 'json');
    // The API expects ISO 639-1.
    if (language !== undefined) form.set('language', language.split('-', 1)[0] ?? language);
    if (hints.length > 0) form.set('prompt', hints.join(', '));
    // As bytes: when a connection breaks while fetch reads a form, it rejects outside of its promise, which ends the
    // process.
    const encoded = new Response(form);
    const type = encoded.headers.get('Content-Type') ?? '';
    const response = await fetch(`${url.replace(/\/+$/, '')}/audio/transcriptions`, {
      method: 'POST',
      headers: { 'Content-Type': type, ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }) },
      body: await encoded.bytes(),
      redirect: 'error',
      signal: AbortSignal.any([this.#aborting.signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    const body = await answerOf(response);
    if (!response.ok) throw new Error(`${response.status} ${body.slice(0, 200)}`);
    const { text } = JSON.parse(body) as { text?: unknown };
    if (typeof text !== 'string') throw new Error(`its answer has no text: ${body.slice(0, 200)}`);
    return text;
  }
}

/** @throws Error for an answer over the limit */
async function answerOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} octets`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function joined(parts: readonly Int16Array[], length: number): Int16Array {
  const whole = new Int16Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
