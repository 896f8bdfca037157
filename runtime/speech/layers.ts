import type { MediaEndpoint } from '../media/endpoint.ts';
import { MediaError } from '../media/media-error.ts';
import { SpeechError } from './engine.ts';
import { LiveSpeech } from './live-speech.ts';
import type { SpeechService } from './service.ts';

/** How long the end of a layer waits for its last words (specification, "SETUP_ASR": 2-3 s), in milliseconds. */
const LAST_WORDS_MS = 3000;
/** A leg has no more layers than this. */
const MAX_LAYERS = 16;

export interface SpeechLeg {
  readonly callid: string;
  /** Undefined for a scenario. */
  readonly endpoint: MediaEndpoint | undefined;
}

export interface AddSpeechLayer {
  readonly domain: string;
  readonly leg: SpeechLeg;
  readonly layer: string;
  readonly language?: string;
}

/** What a layer tells: a result, or that it had to end. */
export type SpeechNotice =
  | { readonly type: 'result'; readonly text: string; readonly final: boolean }
  | { readonly type: 'failed'; readonly reason: string };

interface Layer {
  readonly speech: Promise<LiveSpeech>;
  /** What was said, sentence by sentence. */
  readonly texts: string[];
}

/** Why a layer cannot be started or ended. */
export class SpeechLayerError extends Error {
  override readonly name = 'SpeechLayerError';
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field}: ${reason}`, options);
    this.field = field;
    this.reason = reason;
  }
}

/**
 * Speech recognition of single legs, by name (specification, "SETUP_ASR"). A layer belongs to its leg, goes with it
 * through transfers, and ends with it.
 */
export class SpeechLayers {
  readonly #service: SpeechService;
  readonly #tell: (domain: string, callid: string, layer: string, notice: SpeechNotice) => void;
  /** By Call-ID of the leg, then by domain and name. */
  readonly #legs = new Map<string, Map<string, Layer>>();

  /** @param tell spreads what was recognised */
  constructor(
    service: SpeechService,
    tell: (domain: string, callid: string, layer: string, notice: SpeechNotice) => void,
  ) {
    this.#service = service;
    this.#tell = tell;
  }

  /** Layers that listen. */
  get count(): number {
    return [...this.#legs.values()].reduce((sum, layers) => sum + layers.size, 0);
  }

  /**
   * Starts a layer; one of the same name on one of the legs ends.
   * @param legs all legs of the call
   * @throws SpeechLayerError
   */
  async add(legs: readonly SpeechLeg[], { domain, leg, layer, language }: AddSpeechLayer): Promise<void> {
    const { callid } = leg;
    const endpoint = this.checkAdd(leg);
    // Asked again after each wait: the same name may come several times at once, and each replaces the one before.
    while (this.#holder(legs, domain, layer) !== undefined) await this.#end(legs, domain, layer, false);
    const key = keyOf(domain, layer);
    const layers = this.#legs.get(callid) ?? new Map<string, Layer>();
    if (layers.size >= MAX_LAYERS) throw new SpeechLayerError('layer', `a leg has no more than ${MAX_LAYERS} layers`);
    this.#legs.set(callid, layers);
    const texts: string[] = [];
    const speech = LiveSpeech.start(this.#service, {
      endpoint,
      ...(language === undefined ? {} : { language }),
      onResult: ({ text, final }) => {
        if (final) texts.push(text);
        this.#tell(domain, callid, layer, { type: 'result', text, final });
      },
      onEnd: (error) => {
        this.#forget(callid, key, speech);
        if (error !== undefined) this.#tell(domain, callid, layer, { type: 'failed', reason: error.message });
      },
    });
    layers.set(key, { speech, texts });
    try {
      await speech;
    } catch (error) {
      this.#forget(callid, key, speech);
      if (error instanceof SpeechError || error instanceof MediaError)
        throw new SpeechLayerError('layer', error.message, { cause: error });
      throw error;
    }
  }

  /**
   * Ends a layer.
   * @param wait waits for the last words, three seconds at most
   * @returns everything that was understood
   * @throws SpeechLayerError when there is none of this name
   */
  async remove(legs: readonly SpeechLeg[], domain: string, layer: string, wait: boolean): Promise<string> {
    const text = await this.#end(legs, domain, layer, wait);
    if (text === undefined) throw new SpeechLayerError('layer', 'is not there');
    return text;
  }

  /**
   * @returns the endpoint of the leg
   * @throws SpeechLayerError when nobody can be understood on it; nothing is done
   */
  checkAdd({ endpoint }: SpeechLeg): MediaEndpoint {
    if (!this.#service.configured)
      throw new SpeechLayerError('record_asr_options', 'speech recognition is not configured');
    if (endpoint === undefined) throw new SpeechLayerError('callid', 'is the leg of a scenario, which has no sound');
    return endpoint;
  }

  /** @throws SpeechLayerError when there is no layer of this name; nothing is done */
  checkRemove(legs: readonly SpeechLeg[], domain: string, layer: string): void {
    if (this.#holder(legs, domain, layer) === undefined) throw new SpeechLayerError('layer', 'is not there');
  }

  /** The leg that has a layer of this name. */
  #holder(legs: readonly SpeechLeg[], domain: string, name: string): SpeechLeg | undefined {
    const key = keyOf(domain, name);
    return legs.find(({ callid }) => this.#legs.get(callid)?.has(key) === true);
  }

  async #end(legs: readonly SpeechLeg[], domain: string, name: string, wait: boolean): Promise<string | undefined> {
    const key = keyOf(domain, name);
    const leg = this.#holder(legs, domain, name);
    const layer = leg === undefined ? undefined : this.#legs.get(leg.callid)?.get(key);
    if (leg === undefined || layer === undefined) return undefined;
    this.#forget(leg.callid, key, layer.speech);
    const speech = await layer.speech.catch(() => undefined);
    if (speech !== undefined) await lastWords(speech, wait);
    return layer.texts.join(' ');
  }

  #forget(callid: string, key: string, speech: Promise<LiveSpeech>): void {
    const layers = this.#legs.get(callid);
    if (layers?.get(key)?.speech !== speech) return;
    layers.delete(key);
    if (layers.size === 0) this.#legs.delete(callid);
  }
}

/** Whoever does not wait has the results told as events, for as long. */
async function lastWords(speech: LiveSpeech, wait: boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_WORDS_MS);
  });
  const over = Promise.race([speech.stop(), late]).then(() => {
    clearTimeout(timer);
    speech.close();
  });
  if (wait) await over;
}

/** Each domain of a call has names of its own. */
function keyOf(domain: string, layer: string): string {
  return `${domain.toLowerCase()} ${layer}`;
}
