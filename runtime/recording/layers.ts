/** Additional recordings of calls by name. */
import type { DomainName } from '../domain-name/index.ts';
import type { RecordedCall, RecordedLeg } from './call.ts';
import { RecordingError } from './errors.ts';
import { FileRecording, type RecordingTools } from './file-recording.ts';

/** Default duration of a layer in milliseconds (specification, "SETUP_RECORD"). */
export const DEFAULT_LAYER_MS = 7_200_000;
/** Largest number of layers per leg. */
const MAX_LAYERS = 16;

interface Layer {
  readonly file: Promise<FileRecording>;
  readonly timer: NodeJS.Timeout;
}

export interface AddLayer {
  readonly call: RecordedCall;
  /** The recorded party; undefined: both. */
  readonly leg: RecordedLeg | undefined;
  readonly domain: DomainName;
  readonly layer: string;
  /** Milliseconds until it ends by itself. */
  readonly timeoutMs: number;
}

/**
 * Additional recordings of a leg, or of both, by name (specification, "SETUP_RECORD"). A layer belongs to its leg,
 * follows it through transfers, and ends with it. A layer of both legs belongs to the caller's leg, unless that is a
 * scenario.
 */
export class RecordLayers {
  readonly #tools: RecordingTools;
  /** By Call-ID of the leg, then by domain and name. */
  readonly #legs = new Map<string, Map<string, Layer>>();
  readonly #open = new Set<Promise<unknown>>();

  constructor(tools: RecordingTools) {
    this.#tools = tools;
  }

  /** Running layers. */
  get count(): number {
    return [...this.#legs.values()].reduce((sum, layers) => sum + layers.size, 0);
  }

  /**
   * Starts a layer, replacing one of the same name in the call.
   * @throws RecordingError when the leg has no sound, has too many layers, or cannot be recorded
   */
  async add({ call, leg: only, domain, layer, timeoutMs }: AddLayer): Promise<void> {
    const leg = this.checkAdd(call, only);
    const { callid } = leg;
    const key = keyOf(domain, layer);
    // Checked again after each wait: concurrent requests with the same name replace one another.
    for (;;) {
      this.#checkRoom(callid, key);
      if (this.#holder(call, domain, layer) === undefined) break;
      await this.#end(call, domain, layer);
    }
    const layers = this.#legs.get(callid) ?? new Map<string, Layer>();
    this.#legs.set(callid, layers);
    const file = FileRecording.start(this.#tools, {
      call,
      leg,
      alone: only !== undefined,
      domain,
      layer,
      ruleId: '',
      storage: '',
      transcribe: false,
    });
    const timer = setTimeout(() => void this.#stop(callid, key), timeoutMs).unref();
    layers.set(key, { file, timer });
    const forget = (): void => this.#forget(callid, key, file);
    this.#background(file.then((started) => started.finished).then(forget, forget));
    try {
      await file;
    } catch (error) {
      throw new RecordingError('callid', (error as Error).message, { cause: error });
    }
  }

  /** Ends a layer of a call. @throws RecordingError for an unknown name */
  async remove(call: RecordedCall, domain: DomainName, layer: string): Promise<void> {
    this.checkRemove(call, domain, layer);
    await this.#end(call, domain, layer);
  }

  /**
   * Checks that a layer can be started, without starting it.
   * @param leg undefined: both legs
   * @returns the leg whose channel would record
   * @throws RecordingError when it cannot be recorded
   */
  checkAdd({ legs }: RecordedCall, leg: RecordedLeg | undefined): RecordedLeg {
    const recording = leg ?? legs.find(({ endpoint }) => endpoint !== undefined);
    if (recording?.endpoint === undefined)
      throw new RecordingError('callid', 'is the leg of a scenario, which has no sound');
    return recording;
  }

  /** Checks that a layer can be ended. @throws RecordingError for an unknown name */
  checkRemove(call: RecordedCall, domain: DomainName, layer: string): void {
    if (this.#holder(call, domain, layer) === undefined)
      throw new RecordingError('layer', 'does not exist in this call');
  }

  /** Resolves when all ended layers are archived. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** @throws RecordingError when one more layer exceeds the leg's limit */
  #checkRoom(callid: string, key: string): void {
    const layers = this.#legs.get(callid);
    if (layers !== undefined && layers.size >= MAX_LAYERS && !layers.has(key))
      throw new RecordingError('layer', `a leg has no more than ${MAX_LAYERS} layers`);
  }

  /** The leg with a layer of this name. */
  #holder({ legs }: RecordedCall, domain: DomainName, layer: string): RecordedLeg | undefined {
    const key = keyOf(domain, layer);
    return legs.find(({ callid }) => this.#legs.get(callid)?.has(key) === true);
  }

  async #end(call: RecordedCall, domain: DomainName, layer: string): Promise<void> {
    const leg = this.#holder(call, domain, layer);
    if (leg !== undefined) await this.#stop(leg.callid, keyOf(domain, layer));
  }

  async #stop(callid: string, key: string): Promise<void> {
    const layer = this.#legs.get(callid)?.get(key);
    if (layer === undefined) return;
    this.#forget(callid, key, layer.file);
    const started = await layer.file.catch(() => undefined);
    await started?.stop();
  }

  #forget(callid: string, key: string, file: Promise<FileRecording>): void {
    const layers = this.#legs.get(callid);
    const layer = layers?.get(key);
    if (layers === undefined || layer?.file !== file) return;
    clearTimeout(layer.timer);
    layers.delete(key);
    if (layers.size === 0) this.#legs.delete(callid);
  }

  #background(work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.finally(() => this.#open.delete(settled));
    this.#open.add(settled);
  }
}

/** Each domain of a call has its own layer names. */
function keyOf(domain: DomainName, layer: string): string {
  return `${domain} ${layer}`;
}
