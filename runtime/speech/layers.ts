/** Named speech recognitions of call legs. */
import type { DomainName } from '../domain-name/index.ts';
import { type MediaEndpoint, MediaError } from '../media/index.ts';
import { SpeechError } from './engine.ts';
import { LiveSpeech } from './live-speech.ts';
import { NO_ENGINE, type SpeechService } from './service.ts';

/** Milliseconds that the end of a layer waits for its last words (specification, "SETUP_ASR": 2-3 s). */
const LAST_WORDS_MS = 3000;
/** Largest number of layers per leg. */
const MAX_LAYERS = 16;

export interface SpeechLeg {
  readonly callid: string;
  /** Undefined for a scenario. */
  readonly endpoint: MediaEndpoint | undefined;
}

export interface AddSpeechLayer {
  readonly domain: DomainName;
  readonly leg: SpeechLeg;
  readonly layer: string;
  readonly language?: string;
}

/** A layer's event: a result, or its failure. */
export type SpeechNotice =
  | { readonly type: 'result'; readonly text: string; readonly final: boolean }
  | { readonly type: 'failed'; readonly reason: string };

interface Layer {
  readonly callid: string;
  /** Undefined while it starts. */
  speech: LiveSpeech | undefined;
  /** The recognised sentences. */
  readonly texts: string[];
  /**
   * Settles after the start (or its failure) of this layer or its replacement; undefined when none is starting. Never
   * rejects.
   */
  busy: Promise<void> | undefined;
}

/** A layer that cannot be started or ended. */
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
 * Speech recognition of single legs, by name (specification, "SETUP_ASR"). A layer belongs to its leg, follows it
 * through transfers, and ends with it.
 */
export class SpeechLayers {
  readonly #service: SpeechService;
  readonly #tell: (domain: DomainName, callid: string, layer: string, notice: SpeechNotice) => void;
  /** By Call-ID of the leg, then by domain and name. */
  readonly #legs = new Map<string, Map<string, Layer>>();

  /** @param tell publishes results */
  constructor(
    service: SpeechService,
    tell: (domain: DomainName, callid: string, layer: string, notice: SpeechNotice) => void,
  ) {
    this.#service = service;
    this.#tell = tell;
  }

  /** Number of running layers. */
  get count(): number {
    return [...this.#legs.values()].reduce((sum, layers) => sum + layers.size, 0);
  }

  /**
   * Starts a layer. A layer of the same name on one of the legs is replaced once the new one has started.
   * @param legs all legs of the call
   * @throws SpeechLayerError without any change
   */
  async add(legs: readonly SpeechLeg[], add: AddSpeechLayer): Promise<void> {
    const endpoint = this.checkAdd(add.leg);
    const key = keyOf(add.domain, add.layer);
    let old = this.#find(legs, key);
    // Concurrent requests with the same name replace one another.
    for (; old?.busy !== undefined; old = this.#find(legs, key)) await old.busy;
    const { callid } = add.leg;
    const others = (this.#legs.get(callid)?.size ?? 0) - (old?.callid === callid ? 1 : 0);
    if (others >= MAX_LAYERS) throw new SpeechLayerError('layer', `a leg has no more than ${MAX_LAYERS} layers`);
    const layer: Layer = { callid, speech: undefined, texts: [], busy: undefined };
    // A replacement takes over the name after its start.
    if (old === undefined) this.#put(key, layer);
    const starting = this.#start(endpoint, add, layer, old);
    const busy = starting.then(
      () => undefined,
      () => undefined,
    );
    for (const each of [layer, old]) if (each !== undefined) each.busy = busy;
    try {
      await starting;
    } catch (error) {
      if (old === undefined) this.#forget(key, layer);
      if (error instanceof SpeechError || error instanceof MediaError)
        throw new SpeechLayerError('layer', error.message, { cause: error });
      throw error;
    } finally {
      for (const each of [layer, old]) if (each?.busy === busy) each.busy = undefined;
    }
  }

  /**
   * Ends a layer.
   * @param wait true: waits for the last words, three seconds at most; false: frees the stream immediately
   * @returns the whole recognised text
   * @throws SpeechLayerError for an unknown name
   */
  async remove(legs: readonly SpeechLeg[], domain: DomainName, name: string, wait: boolean): Promise<string> {
    const key = keyOf(domain, name);
    let layer = this.#find(legs, key);
    for (; layer?.busy !== undefined; layer = this.#find(legs, key)) await layer.busy;
    if (layer === undefined) throw new SpeechLayerError('layer', 'does not exist in this call');
    this.#forget(key, layer);
    if (layer.speech !== undefined) await lastWords(layer.speech, wait);
    return layer.texts.join(' ');
  }

  /**
   * Checks that a layer can be started on a leg.
   * @returns the endpoint of the leg
   * @throws SpeechLayerError when the leg has no sound
   */
  checkAdd({ endpoint }: SpeechLeg): MediaEndpoint {
    if (!this.#service.configured) throw new SpeechLayerError('record_asr_options', NO_ENGINE);
    if (endpoint === undefined) throw new SpeechLayerError('callid', 'is the leg of a scenario, which has no sound');
    return endpoint;
  }

  /** Checks that a layer can be ended. @throws SpeechLayerError for an unknown name */
  checkRemove(legs: readonly SpeechLeg[], domain: DomainName, name: string): void {
    if (this.#find(legs, keyOf(domain, name)) === undefined)
      throw new SpeechLayerError('layer', 'does not exist in this call');
  }

  /** Starts listening, then takes the place of another layer. */
  async #start(
    endpoint: MediaEndpoint,
    { domain, layer: name, language }: AddSpeechLayer,
    layer: Layer,
    old: Layer | undefined,
  ): Promise<void> {
    const key = keyOf(domain, name);
    const speech = await LiveSpeech.start(this.#service, {
      endpoint,
      ...(language === undefined ? {} : { language }),
      ...(old?.speech === undefined ? {} : { instead: old.speech }),
      onResult: ({ text, final }) => {
        if (final) layer.texts.push(text);
        this.#tell(domain, layer.callid, name, { type: 'result', text, final });
      },
      onEnd: (error) => {
        this.#forget(key, layer);
        if (error !== undefined) this.#tell(domain, layer.callid, name, { type: 'failed', reason: error.message });
      },
    });
    layer.speech = speech;
    if (old === undefined) return;
    this.#forget(key, old);
    this.#put(key, layer);
    if (old.speech !== undefined) await lastWords(old.speech, false);
  }

  #find(legs: readonly SpeechLeg[], key: string): Layer | undefined {
    for (const { callid } of legs) {
      const layer = this.#legs.get(callid)?.get(key);
      if (layer !== undefined) return layer;
    }
    return undefined;
  }

  #put(key: string, layer: Layer): void {
    const layers = this.#legs.get(layer.callid) ?? new Map<string, Layer>();
    layers.set(key, layer);
    this.#legs.set(layer.callid, layers);
  }

  #forget(key: string, layer: Layer): void {
    const layers = this.#legs.get(layer.callid);
    if (layers?.get(key) !== layer) return;
    layers.delete(key);
    if (layers.size === 0) this.#legs.delete(layer.callid);
  }
}

/** Without `wait`, late results are published as events while no other user needs the stream. */
async function lastWords(speech: LiveSpeech, wait: boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_WORDS_MS);
  });
  const over = Promise.race([wait ? speech.stop() : speech.leave(), late]).then(() => {
    clearTimeout(timer);
    speech.close();
  });
  if (wait) await over;
}

/** Each domain of a call has its own layer names. */
function keyOf(domain: DomainName, layer: string): string {
  return `${domain} ${layer}`;
}
