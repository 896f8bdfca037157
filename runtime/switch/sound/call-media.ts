/** What a scenario plays to its opponent and hears from it. */
import {
  type CallPort,
  CallStateError,
  type CollectOptions,
  type CollectResult,
  type ListenOptions,
  type ListenResult,
  type MachineOptions,
  type MachineResult,
  type PlayOptions,
  type PlayResult,
  type RecordOptions,
  type RecordResult,
  type RingbackOptions,
  type SayOptions,
  type TailStep,
  unavailable,
} from '../../runs/index.ts';
import type { CallState, PlaySource } from '../../language/index.ts';
import {
  aborted,
  collectDigits,
  detectMachine,
  type MediaEndpoint,
  NoSpeechEngine,
  playSources,
  recordInTurn,
  stoppable,
} from '../../media/index.ts';
import { RINGBACK } from './ringback.ts';
import { DEFAULT_VOICE, sourceUrl } from './source-url.ts';

/** Recognises the speech of an endpoint's party; the prompt's sources are in the media server's notation. */
export type ListenTo = (
  endpoint: MediaEndpoint,
  options: Omit<ListenOptions, 'prompt'> & { readonly prompt: readonly string[] },
) => Promise<ListenResult>;

/** What a scenario plays to its opponent and hears from it: work on the opponent's endpoint, which `quiet` ends. */
export abstract class CallMedia
  implements
    Pick<
      CallPort,
      'play' | 'ringback' | 'collect' | 'echo' | 'record' | 'listen' | 'detectMachine' | 'say' | 'sendDtmf'
    >
{
  readonly #work = new Set<Promise<unknown>>();
  #quiet = new AbortController();

  abstract get state(): CallState;
  abstract get endSignal(): AbortSignal;

  /** The node's speech recognition; undefined on a node without it. */
  protected abstract readonly listenTo: ListenTo | undefined;

  /**
   * The opponent's endpoint.
   * @throws CallStateError without one
   */
  protected abstract media(operation: string): MediaEndpoint;

  /** Ends all work on the endpoint, because the call ends next; settles when the endpoint is free. */
  async quiet(): Promise<void> {
    this.#quiet.abort(new CallStateError('this', 'ended'));
    this.#quiet = new AbortController();
    await Promise.allSettled(this.#work);
  }

  play(sources: readonly PlaySource[], { signal, stopDigits = '', repeat = 1 }: PlayOptions): Promise<PlayResult> {
    return this.#forEachOpponent('play', signal, (endpoint, until) =>
      playSources(endpoint, sources.map(sourceUrl), { signal: until, stopDigits, repeat }),
    );
  }

  async ringback({ signal, sounds }: RingbackOptions): Promise<void> {
    const sources = sounds?.map(sourceUrl) ?? [RINGBACK];
    await this.#forEachOpponent('ringback', signal, (endpoint, until) =>
      playSources(endpoint, sources, { signal: until, stopDigits: '', repeat: Infinity }),
    );
  }

  collect(options: CollectOptions): Promise<CollectResult> {
    return this.#forEachOpponent('collect', options.signal, (endpoint, signal) =>
      collectDigits(endpoint, { ...options, signal, prompt: (options.prompt ?? []).map(sourceUrl) }),
    );
  }

  echo(signal: AbortSignal): Promise<void> {
    return this.#forEachOpponent('echo', signal, (endpoint, until) => endpoint.echo(until));
  }

  abstract sendDtmf(steps: readonly TailStep[], signal: AbortSignal): Promise<void>;

  record(options: RecordOptions): Promise<RecordResult> {
    return this.#forEachOpponent('record', options.signal, recordInTurn(options));
  }

  async listen(options: ListenOptions): Promise<ListenResult> {
    const { listenTo } = this;
    if (listenTo === undefined) throw unavailable('this node does not understand speech');
    return this.#forEachOpponent('recognise', options.signal, (endpoint, signal) =>
      listenTo(endpoint, { ...options, signal, prompt: options.prompt.map(sourceUrl) }),
    );
  }

  detectMachine({ signal, ...limits }: MachineOptions): Promise<MachineResult> {
    return this.#forEachOpponent('detect_machine', signal, (endpoint, until) => detectMachine(endpoint, limits, until));
  }

  say(text: string, { signal, voice, language, stopDigits = '' }: SayOptions): Promise<PlayResult> {
    return this.#forEachOpponent('say', signal, async (endpoint, until) => {
      const started = performance.now();
      const speaker = voice ?? language ?? DEFAULT_VOICE;
      const { digit } = await stoppable(endpoint, { signal: until, stopDigits }, (stop) =>
        endpoint.speak(text, speaker, stop),
      );
      return { digit, milliseconds: Math.round(performance.now() - started) };
    });
  }

  /** Aborted when another party replaces the opponent; undefined where the opponent stays. */
  protected get replaced(): AbortSignal | undefined {
    return undefined;
  }

  /** True while another party is about to replace the opponent, which may have left already. */
  protected get leaving(): boolean {
    return false;
  }

  /** Work on the opponent's endpoint that starts again for each party that replaces the opponent. */
  async #forEachOpponent<T>(
    operation: string,
    signal: AbortSignal,
    work: (endpoint: MediaEndpoint, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const { replaced } = this;
      const until = replaced === undefined ? signal : AbortSignal.any([signal, replaced]);
      try {
        return await this.during(operation, until, work);
      } catch (error) {
        const over = AbortSignal.any([signal, this.endSignal]);
        if (this.leaving && !until.aborted) await aborted(AbortSignal.any([until, over]));
        if (over.aborted || replaced?.aborted !== true) throw error;
      }
    }
  }

  /** Work on the opponent's endpoint; `quiet` ends it and waits for its end. */
  protected during<T>(
    operation: string,
    signal: AbortSignal,
    work: (endpoint: MediaEndpoint, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const quiet = this.#quiet.signal;
    const running = work(this.media(operation), AbortSignal.any([signal, quiet]));
    this.#work.add(running);
    const over = (): void => void this.#work.delete(running);
    running.then(over, over);
    return running.catch(async (error: unknown) => {
      // The end of the call must be known before its work fails, so that the failure counts as that end.
      if (quiet.aborted && !signal.aborted) await aborted(AbortSignal.any([signal, this.endSignal]));
      throw error instanceof NoSpeechEngine ? unavailable(error.message) : error;
    });
  }
}
