/** Speech engine: vosk-server over WebSocket. */
import { once } from 'node:events';
import { setTimeout as elapsed } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { SPEECH_RATE, type SpeechEngine, SpeechError, type SpeechStream, type SpeechStreamOptions } from '../engine.ts';

const CONNECT_MS = 5000;
/** Milliseconds to wait for the last result after the end of the sound. */
const FINAL_MS = 30_000;
/** Sound per message: a tenth of a second. */
const CHUNK_SAMPLES = SPEECH_RATE / 10;
const HIGH_WATER = 512 * 1024;

/**
 * The WebSocket protocol of vosk-server (alphacep): a `config` message, sound as binary messages, `{"eof": 1}`; the
 * server answers with `partial` and `text`.
 */
export class Vosk implements SpeechEngine {
  readonly #url: string;
  readonly #apiKey: string | undefined;

  /** @param url `ws://host:port` or `wss://` */
  constructor(url: string, apiKey?: string) {
    this.#url = url;
    this.#apiKey = apiKey;
  }

  async open(options: SpeechStreamOptions): Promise<SpeechStream> {
    const headers = this.#apiKey === undefined ? {} : { Authorization: `Bearer ${this.#apiKey}` };
    const socket = new WebSocket(this.#url, { headers, handshakeTimeout: CONNECT_MS, perMessageDeflate: false });
    try {
      await once(socket, 'open');
    } catch (error) {
      const { message } = error as Error;
      throw new SpeechError('failed', `the speech server ${this.#url} cannot be reached: ${message}`, { cause: error });
    }
    const hints = options.hints.length === 0 ? {} : { phrase_list: [...options.hints, '[unk]'] };
    socket.send(JSON.stringify({ config: { sample_rate: SPEECH_RATE, ...hints } }));
    return new VoskStream(socket, options);
  }
}

class VoskStream implements SpeechStream {
  readonly #socket: WebSocket;
  readonly #options: SpeechStreamOptions;
  readonly #ended = Promise.withResolvers<void>();
  #waiting: Int16Array[] = [];
  #waitingSamples = 0;
  /** Sent messages and received answers: one answer per message of sound, and one more for the end. */
  #sent = 0;
  #answered = 0;
  #finishing = false;
  #closed = false;

  constructor(socket: WebSocket, options: SpeechStreamOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data) => this.#take(textOf(data)));
    socket.on('error', (error) => this.#over(error.message));
    socket.on('close', (code) => this.#over(this.#complete ? undefined : `it closed the connection (${code})`));
  }

  get backlogMs(): number {
    return (this.#socket.bufferedAmount / 2 + this.#waitingSamples) / (SPEECH_RATE / 1000);
  }

  write(samples: Int16Array): void {
    if (this.#closed || this.#finishing) return;
    this.#waiting.push(samples);
    this.#waitingSamples += samples.length;
    if (this.#waitingSamples >= CHUNK_SAMPLES) this.#flush();
  }

  async drained(): Promise<void> {
    while (!this.#closed && this.#socket.bufferedAmount > HIGH_WATER) await elapsed(20);
  }

  async finish(): Promise<void> {
    if (this.#closed || this.#finishing) return this.#ended.promise;
    this.#flush();
    this.#finishing = true;
    this.#socket.send('{"eof" : 1}');
    const late = setTimeout(() => this.#over('it did not send its last result'), FINAL_MS);
    await this.#ended.promise;
    clearTimeout(late);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.terminate();
    this.#ended.resolve();
  }

  #flush(): void {
    const bytes = this.#waiting.map((samples) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    this.#waiting = [];
    this.#waitingSamples = 0;
    if (bytes.length === 0) return;
    this.#sent += 1;
    this.#socket.send(Buffer.concat(bytes));
  }

  get #complete(): boolean {
    return this.#finishing && this.#answered > this.#sent;
  }

  #take(text: string): void {
    if (this.#closed) return;
    let message: { partial?: unknown; text?: unknown };
    try {
      message = JSON.parse(text) as typeof message;
    } catch {
      return this.#over(`it sent invalid JSON: ${text.slice(0, 80)}`);
    }
    this.#answered += 1;
    if (typeof message.partial === 'string' && message.partial !== '')
      this.#options.onResult({ text: message.partial, final: false });
    const understood = typeof message.text === 'string' ? message.text.replaceAll('[unk]', '').trim() : '';
    if (understood !== '') this.#options.onResult({ text: understood, final: true });
    if (this.#complete) {
      this.#over(undefined);
      this.#socket.close();
    }
  }

  #over(problem: string | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    if (problem !== undefined) {
      this.#socket.terminate();
      this.#options.onFailure(new SpeechError('failed', `the speech server failed: ${problem}`));
    }
    this.#ended.resolve();
  }
}

function textOf(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.from(data as ArrayBuffer).toString('utf8');
}
